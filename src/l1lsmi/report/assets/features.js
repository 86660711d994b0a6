// The selected features against the target, one plot each.

const valueTicks = (picture, low, high, x, bottom, width, unit) => {
  const { values, step } = ticks(low, high, Math.max(2, Math.floor(width / (isDate(unit) ? 90 : 46))));
  for (const value of values) {
    picture.append(words(x(value), bottom + 16, onAxis(value, step, unit), { "text-anchor": "middle" }));
  }
};

/** One box plot per class: quartiles, median, and whiskers at the 5th and 95th percentiles. */
const drawBoxes = (figure, plot) => {
  const row = 30;
  const { picture, width, height } = canvas(figure, plot.boxes.length * row + 34, "Values by group");
  const left = Math.min(96, width * 0.34);
  const low = Math.min(...plot.boxes.map((box) => box.low));
  const high = Math.max(...plot.boxes.map((box) => box.high));
  const x = scale([low, high], [left + 4, width - 12]);
  const bottom = height - 26;
  picture.append(svg("line", { class: "axis", x1: left, x2: width - 4, y1: bottom, y2: bottom }));
  valueTicks(picture, low, high, x, bottom, width - left, plot.unit);
  const marks = plot.boxes.map((box, i) => {
    const y = 4 + row * (i + 0.5);
    const start = Math.min(x(box.q1), x(box.q3) - 1);
    const node = svg("rect", { class: "box", x: start, y: y - 9, width: Math.max(1, x(box.q3) - start), height: 18, rx: 2 });
    picture.append(
      words(left - 8, y + 4, short(box.group, 12), { "text-anchor": "end", class: "strong" }),
      svg("line", { class: "whisker", x1: x(box.low), x2: x(box.high), y1: y, y2: y }),
      node,
      svg("line", { class: "middle", x1: x(box.middle), x2: x(box.middle), y1: y - 9, y2: y + 9 }),
    );
    const lines = [box.group, `median ${inUnit(box.middle, plot.unit)}`, `quartiles ${inUnit(box.q1, plot.unit)} and ${inUnit(box.q3, plot.unit)}`, count(box.rows, "row")];
    return { node, x: x(box.middle), y, lines };
  });
  explore(picture, marks, { reach: 400 });
};

/** Rows as dots, with the median of the target in quantile bins of the feature. */
const drawScatter = (figure, plot, target) => {
  const { picture, width, height } = canvas(figure, 190, "Rows as dots");
  const frame = { left: 44, right: width - 8, top: 8, bottom: height - 26 };
  const x = scale(plot.range, [frame.left + 4, frame.right - 4]);
  const y = scale(target.range, [frame.bottom - 4, frame.top]);
  const across = ticks(target.range[0], target.range[1], 4);
  gridLines(picture, across.values, across.step, y, frame.left, frame.right);
  valueTicks(picture, plot.range[0], plot.range[1], x, frame.bottom, width, plot.unit);
  const d = plot.values
    .map((value, i) => [value, target.values[i]])
    .filter(([value]) => value !== null)
    .map(([value, of]) => [clamp(value, ...plot.range), clamp(of, ...target.range)])
    .map(([a, b]) => `M${x(a).toFixed(1)} ${y(b).toFixed(1)}h0`);
  picture.append(svg("path", { class: "dots", d: d.join("") }));
  const knots = plot.trend.map((knot) => ({ ...knot, px: x(clamp(knot.at, ...plot.range)), py: y(clamp(knot.middle, ...target.range)) }));
  picture.append(svg("path", { class: "trend", d: knots.map((knot, i) => `${i ? "L" : "M"}${knot.px.toFixed(1)} ${knot.py.toFixed(1)}`).join("") }));
  const marks = knots.map((knot) => {
    const node = svg("circle", { class: "knot", cx: knot.px, cy: knot.py, r: 4 });
    picture.append(node);
    return { node, x: knot.px, y: knot.py, lines: [`${inUnit(knot.from, plot.unit)} to ${inUnit(knot.to, plot.unit)}`, `median of the target ${sig(knot.middle)}`, count(knot.rows, "row")] };
  });
  explore(picture, marks, { reach: 400 });
};

/** Values as rows, classes as columns; the darker, the more frequent is the class for this value. */
const drawShares = (figure, plot) => {
  const row = 26;
  const { picture, width } = canvas(figure, plot.groups.length * row + 40, "Shares of the classes by value");
  const left = Math.min(84, width * 0.3);
  const n = plot.classes.length;
  const cell = (width - left - 4) / n;
  const marks = [];
  plot.classes.forEach((name, c) => {
    picture.append(words(left + cell * (c + 0.5), 14, short(name, Math.max(2, Math.floor(cell / 8))), { "text-anchor": "middle" }));
  });
  plot.groups.forEach((group, g) => {
    const y = 22 + row * g;
    picture.append(words(left - 8, y + row / 2 + 4, short(group.value, 10), { "text-anchor": "end", class: "strong" }));
    group.shares.forEach((share, c) => {
      const node = svg("rect", { class: "cell share", x: left + cell * c, y, width: cell, height: row - 3, rx: 3, "fill-opacity": (0.05 + 0.95 * share).toFixed(3) });
      picture.append(node);
      marks.push({ node, x: left + cell * (c + 0.5), y: y + row / 2, lines: [`${plot.classes[c]} where the value is ${group.value}`, `${percent(share)} of ${count(group.rows, "row")}`] });
    });
  });
  explore(picture, marks, { reach: 400 });
};

const drawFeatures = (place) => {
  const { features, target } = report.plots;
  const draw = { boxes: drawBoxes, scatter: drawScatter, shares: drawShares };
  place.querySelectorAll("figure[data-plot]").forEach((figure) => {
    const plot = features[Number(figure.dataset.plot)];
    draw[plot.kind](figure, plot, plot.target ?? target);
  });
};
