// The search path: weights along decreasing radii, or the set of features at each step.

/** Description of a step for a tooltip. */
const describeStep = (path, s) => {
  const step = path.stations[s];
  const where = step.radius === null ? `Step ${s + 1}` : `Radius ${sig(step.radius)}`;
  return `${where}: ${count(step.size, "feature")} in the set${step.score === null ? "" : `, score ${sig(step.score)}`}`;
};

const stepTicks = (path, x, width) => {
  const wanted = Math.max(2, Math.floor(width / 64));
  const every = Math.max(1, Math.ceil(path.stations.length / wanted));
  const last = path.stations.length - 1;
  return path.stations
    .map((step, s) => ({ s, label: step.size.toLocaleString("en"), x: x(s) }))
    .filter(({ s }) => s === last || (s % every === 0 && last - s >= every * 0.7));
};

const drawBottom = (picture, path, x, frame) => {
  for (const tick of stepTicks(path, x, frame.right - frame.left)) {
    picture.append(words(tick.x, frame.bottom + 18, tick.label, { "text-anchor": "middle" }));
  }
  const title = path.kind === "weights" ? "number of features (the radius decreases \u2192)" : "number of features at each step \u2192";
  picture.append(words((frame.left + frame.right) / 2, frame.bottom + 38, title, { "text-anchor": "middle" }));
};

/** Lines of weights, one per feature; selected features are named. */
const drawWeights = (figure, path) => {
  const roomy = figure.clientWidth >= 560;
  const { picture, width, height } = canvas(figure, roomy ? 400 : 340, "Weights of features along the path");
  const last = path.stations.length - 1;
  const labelled = path.tracks.filter((track) => isSelected(track.id) && track.shares[last] !== null).slice(0, 16);
  const labelRoom = labelled.length ? (roomy ? 150 : 84) : 12;
  const frame = { left: 46, right: width - labelRoom, top: 14, bottom: height - 46 };
  const highest = Math.max(...path.tracks.flatMap((track) => track.shares.map((share) => share ?? 0)), 1e-9);
  const x = scale([0, Math.max(last, 1)], [frame.left, frame.right]);
  const y = scale([0, highest], [frame.bottom, frame.top]);
  const { values, step } = ticks(0, highest, 5);
  for (const value of values) {
    picture.append(
      svg("line", { class: "axis", x1: frame.left, x2: frame.right, y1: y(value), y2: y(value) }),
      words(frame.left - 8, y(value) + 4, `${onAxis(value * 100, step * 100)}\u202f%`, { "text-anchor": "end" }),
    );
  }
  drawBottom(picture, path, x, frame);

  const marks = [];
  const lines = [...path.tracks].sort((a, b) => isSelected(a.id) - isSelected(b.id)).map((track) => {
    const points = track.shares.map((share, s) => [s, share]).filter(([, share]) => share !== null);
    const d = points.map(([s, share], i) => `${i ? "L" : "M"}${x(s).toFixed(1)} ${y(share).toFixed(1)}`).join("");
    const line = svg("path", { class: isSelected(track.id) ? "track selected" : "track", d });
    picture.append(line);
    for (const [s, share] of points) {
      const text = share === 0 ? "removed" : `${percent(share)} of the total weight`;
      const node = svg("circle", { class: "stop", cx: x(s), cy: y(share), r: 5 });
      // Features that were removed all lie on the axis and get no mark.
      if (share > 0) marks.push({ node, line, x: x(s), y: y(share), lines: [nameOf(track.id), text, describeStep(path, s)] });
    }
    return line;
  });
  picture.append(...marks.map((mark) => mark.node));
  const ends = spread(labelled.map((track) => y(track.shares[last])), 15, frame.top, frame.bottom);
  labelled.forEach((track, i) => {
    picture.append(words(frame.right + 8, ends[i] + 4, short(nameOf(track.id), roomy ? 20 : 10), { class: "strong" }));
  });
  const first = marks.findIndex((mark) => mark.line === lines[lines.length - 1]);
  explore(picture, marks, {
    start: first,
    lit: (i) => {
      picture.classList.add("lighted");
      marks[i].line.classList.add("lit");
    },
    dark: (i) => {
      picture.classList.remove("lighted");
      marks[i].line.classList.remove("lit");
    },
  });
};

/** One row per feature, one column per step; filled where the feature is in the set. */
const drawPresence = (figure, path) => {
  const roomy = figure.clientWidth >= 560;
  const row = 20;
  const { picture, width, height } = canvas(figure, path.tracks.length * row + 54, "Features in the set at each step");
  const frame = { left: roomy ? 170 : 96, right: width - 10, top: 6, bottom: height - 46 };
  const cell = (frame.right - frame.left) / path.stations.length;
  const x = (s) => frame.left + cell * (s + 0.5);
  const marks = [];
  path.tracks.forEach((track, r) => {
    const top = frame.top + r * row;
    picture.append(
      words(frame.left - 8, top + row / 2 + 4, short(nameOf(track.id), roomy ? 22 : 11), {
        "text-anchor": "end",
        class: isSelected(track.id) ? "strong" : "",
      }),
      svg("line", { class: "axis", x1: frame.left, x2: frame.right, y1: top + row / 2, y2: top + row / 2 }),
    );
    track.inside.forEach((inside, s) => {
      if (!inside) return;
      const node = svg("rect", {
        class: isSelected(track.id) ? "present selected" : "present",
        x: frame.left + cell * s + 0.75, y: top + 3, width: Math.max(1, cell - 1.5), height: row - 6, rx: 2,
      });
      picture.append(node);
      marks.push({ node, x: x(s), y: top + row / 2, lines: [nameOf(track.id), describeStep(path, s)] });
    });
  });
  drawBottom(picture, path, x, frame);
  explore(picture, marks, { reach: Math.max(24, cell) });
};

const drawPath = (figure) => (report.path.kind === "weights" ? drawWeights : drawPresence)(figure, report.path);
