// Errors on held-out rows: a dot with one standard error to either side, or with a small dot for each split.

const drawErrors = (figure, rows, metric, guess) => {
  const roomy = figure.clientWidth >= 560;
  const row = 38;
  const { picture, width, height } = canvas(figure, rows.length * row + 62, "Errors on held-out rows");
  const frame = { left: roomy ? 190 : 112, right: width - 16, top: 24, bottom: height - 38 };
  const factor = metric.percent ? 100 : 1;
  const spread = (entry) => (entry.errors ? [Math.min(...entry.errors), Math.max(...entry.errors)] : [entry.error - (entry.standard_error ?? 0), entry.error + (entry.standard_error ?? 0)]);
  const all = rows.flatMap((entry) => [...spread(entry), entry.error]).concat(guess === null ? [] : [guess]);
  const high = Math.max(...all, 1e-12) * 1.04;
  const x = scale([0, high], [frame.left, frame.right]);
  const { values, step } = ticks(0, high * factor, Math.max(2, Math.floor((frame.right - frame.left) / (roomy ? 80 : 56))));
  for (const value of values) {
    const at = x(value / factor);
    picture.append(
      svg("line", { class: "axis", x1: at, x2: at, y1: frame.top, y2: frame.bottom }),
      words(at, frame.bottom + 17, onAxis(value, step) + (metric.percent ? "\u202f%" : ""), { "text-anchor": "middle" }),
    );
  }
  const titleAt = roomy ? (frame.left + frame.right) / 2 : width / 2;
  picture.append(words(titleAt, frame.bottom + 35, `${metric.name} (lower is better)`, { "text-anchor": "middle" }));
  if (guess !== null) {
    const at = x(guess);
    picture.append(
      svg("line", { class: "rule", x1: at, x2: at, y1: frame.top - 6, y2: frame.bottom }),
      words(at, frame.top - 11, "constant prediction", { class: "other", "text-anchor": at > width - 64 ? "end" : "middle" }),
    );
  }
  const format = (error) => (metric.percent ? percent(error) : sig(error));
  const marks = rows.map((entry, i) => {
    const y = frame.top + row * (i + 0.5);
    picture.append(words(frame.left - 12, y + 4, short(entry.name, roomy ? 22 : 13), { "text-anchor": "end", class: "strong" }));
    const ends = spread(entry);
    picture.append(svg("line", { class: "spread", x1: x(Math.max(0, ends[0])), x2: x(ends[1]), y1: y, y2: y }));
    for (const error of entry.errors ?? []) picture.append(svg("circle", { class: "split", cx: x(error), cy: y, r: 3.5 }));
    const node = svg("circle", { class: "mean", cx: x(entry.error), cy: y, r: 7 });
    picture.append(node);
    const beside = entry.errors ? `splits ${entry.errors.map(format).join(", ")}` : `standard error ${format(entry.standard_error)}`;
    return { node, x: x(entry.error), y, lines: [entry.name, `error ${format(entry.error)}`, beside] };
  });
  explore(picture, marks, { reach: 400 });
};

const drawHeldOut = (figure) => {
  const { rows, metric } = report.held_out;
  drawErrors(figure, rows.filter((row) => row.error !== null), metric, null);
};

const drawComparison = (figure) => {
  const { methods, metric, guess } = report.comparison;
  drawErrors(figure, methods.filter((method) => method.error !== null), metric, guess);
};
