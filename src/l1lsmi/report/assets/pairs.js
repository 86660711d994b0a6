// Two features against the target: one dot per row, coloured by its class or by its value of the target.

/** Shapes of dots, one for each class, so that classes differ in more than colour; numbers share the first. */
const SHAPES = [
  (x, y) => `M${x - 2.6} ${y}a2.6 2.6 0 1 0 5.2 0a2.6 2.6 0 1 0 -5.2 0z`,
  (x, y) => `M${x - 2.4} ${y - 2.4}h4.8v4.8h-4.8z`,
  (x, y) => `M${x} ${y - 3.2}l3 5.4h-6z`,
  (x, y) => `M${x} ${y - 3.4}l3.4 3.4l-3.4 3.4l-3.4 -3.4z`,
  (x, y) => `M${x} ${y + 3.2}l3 -5.4h-6z`,
  (x, y) => `M${x - 1} ${y - 3}h2v2h2v2h-2v2h-2v-2h-2v-2h2z`,
  (x, y) => `M${x - 2} ${y - 3}l2 2l2 -2l1 1l-2 2l2 2l-1 1l-2 -2l-2 2l-1 -1l2 -2l-2 -2z`,
];
const shapeOf = (plot, colour) => SHAPES[plot.is_number ? 0 : colour % SHAPES.length];
const colourClass = (plot, colour) => `dot ${plot.is_number ? "value" : "class"}${colour}`;

/** A number between -0.3 and 0.3 for each dot, which spreads rows with the same level, or with numbers that repeat. */
const spreadOf = (i, step) => ((i * step) % 1) * 0.6 - 0.3;

/** Where groups and values of a feature are on an axis from `from` to `to`; missing numbers have a part of their own. */
const placeAxis = (axis, from, to, step) => {
  const n = axis.labels.length;
  if (axis.range === null) {
    const x = scale([-0.5, n - 0.5], [from, to]);
    return { at: (value, i) => x(value + spreadOf(i, step)), ends: (g) => [x(g - 0.5), x(g + 0.5)], low: from };
  }
  const hasMissing = n > axis.edges.length + 1;
  const low = hasMissing ? from + (to - from) * 0.16 : from;
  const x = scale(axis.range, [low + (to - low) * 0.02, to - (to - low) * 0.02]);
  const missing = scale([-0.5, 0.5], [from, low]);
  const ends = [low, ...axis.edges.map((edge) => x(clamp(edge, ...axis.range))), to];
  return {
    at: (value, i) => (value === null ? missing(spreadOf(i, step)) : x(clamp(value + axis.gap * spreadOf(i, step), ...axis.range))),
    ends: (g) => (hasMissing && g === n - 1 ? [from, low] : [ends[g], ends[g + 1]]),
    low,
    x,
    hasMissing,
  };
};

/** Labels of the values of a feature, with their positions. */
const axisLabels = (axis, place, wanted) => {
  const middle = (g) => (place.ends(g)[0] + place.ends(g)[1]) / 2;
  if (axis.range === null) return axis.labels.map((label, g) => ({ label, at: middle(g) }));
  const { values, step } = ticks(axis.range[0], axis.range[1], isDate(axis.unit) ? Math.ceil(wanted / 2) : wanted);
  const labels = values.map((value) => ({ label: onAxis(value, step, axis.unit), at: place.x(value) }));
  if (place.hasMissing) labels.push({ label: axis.labels[axis.labels.length - 1], at: middle(axis.labels.length - 1) });
  return labels;
};

const axisTitle = (id, axis, most) => short(nameOf(id), most) + (axis.unit && !isDate(axis.unit) ? ` (${axis.unit})` : "");

/** What the tooltip says about the rows of a cell. */
const describeCell = (plot, cell) => {
  const where = `${nameOf(plot.a)}: ${plot.x.labels[cell.i]}; ${nameOf(plot.b)}: ${plot.y.labels[cell.j]}`;
  if (plot.is_number) return [where, `median of the target ${sig(cell.middle)}`, count(cell.rows, "row")];
  const shares = cell.shares.map((share, colour) => ({ share, name: plot.colours[colour] })).filter(({ share }) => share > 0);
  shares.sort((a, b) => b.share - a.share);
  return [where, ...shares.slice(0, 3).map(({ share, name }) => `${name}: ${percent(share)}`), count(cell.rows, "row")];
};

const drawPair = (figure, plot) => {
  const of = plot.of ?? report.asked.target;
  const label = `${nameOf(plot.a)} and ${nameOf(plot.b)} against ${of}: one dot per row, coloured by ${plot.is_number ? "value" : "class"}`;
  // Names of levels that do not fit side by side are tilted.
  const across = plot.x.range === null ? plot.x.labels.map((text) => letters(text).length) : [0];
  const tilted = across.length * Math.max(...across) > 40;
  const { picture, width, height } = canvas(figure, tilted ? 370 : 330, label);
  const longest = Math.max(...(plot.y.range === null ? plot.y.labels.map((text) => letters(text).length) : [isDate(plot.y.unit) ? 10 : 6]), 0);
  const left = clamp(14 + 7 * longest, 58, Math.min(100, width * 0.3));
  const frame = { left, right: width - 6, top: 24, bottom: height - (tilted ? 94 : 44) };
  const x = placeAxis(plot.x, frame.left, frame.right, 0.6180339887);
  const y = placeAxis(plot.y, frame.bottom, frame.top, 0.7548776662);
  picture.append(
    svg("path", { class: "axis", d: `M${frame.left} ${frame.top}V${frame.bottom}H${frame.right}` }),
    words(0, 12, `\u2191 ${axisTitle(plot.b, plot.y, Math.floor(width / 8))}`, { class: "strong" }),
    words(width, height - 4, `${axisTitle(plot.a, plot.x, Math.floor(width / 8))} \u2192`, { class: "strong", "text-anchor": "end" }),
  );
  if (x.hasMissing) picture.append(svg("line", { class: "edge", x1: x.low, x2: x.low, y1: frame.top, y2: frame.bottom }));
  if (y.hasMissing) picture.append(svg("line", { class: "edge", x1: frame.left, x2: frame.right, y1: y.low, y2: y.low }));
  const below = axisLabels(plot.x, x, Math.max(2, Math.floor((frame.right - frame.left) / 60)));
  const room = plot.x.range === null ? Math.max(2, Math.floor((frame.right - frame.left) / plot.x.labels.length / 7.5)) : 10;
  for (const { label: text, at } of below) {
    const below = frame.bottom + 17;
    const style = tilted ? { "text-anchor": "end", transform: `rotate(-35 ${at} ${below})` } : { "text-anchor": "middle" };
    picture.append(words(at, below, short(text, tilted ? 12 : room), style));
  }
  for (const { label: text, at } of axisLabels(plot.y, y, 5)) {
    picture.append(words(frame.left - 8, at + 4, short(text, Math.max(6, Math.floor((left - 10) / 7))), { "text-anchor": "end" }));
  }
  const paths = plot.colours.map(() => []);
  plot.dots.forEach((colour, i) => {
    const at = [x.at(plot.x.values[i], i), y.at(plot.y.values[i], i)].map((place) => Number(place.toFixed(1)));
    paths[colour].push(shapeOf(plot, colour)(...at));
  });
  // Colours with the fewest dots are drawn last, where no others hide them.
  const order = paths.map((dots, colour) => colour).sort((a, b) => paths[b].length - paths[a].length);
  for (const colour of order) picture.append(svg("path", { class: colourClass(plot, colour), d: paths[colour].join("") }));
  const marks = plot.cells.map((cell) => {
    const [x1, x2] = x.ends(cell.i);
    const [y1, y2] = y.ends(cell.j);
    const node = svg("rect", { class: "part", x: x1, y: Math.min(y1, y2), width: Math.max(1, x2 - x1), height: Math.max(1, Math.abs(y2 - y1)) });
    picture.append(node);
    return { node, x: (x1 + x2) / 2, y: (y1 + y2) / 2, lines: describeCell(plot, cell) };
  });
  explore(picture, marks, { reach: 400 });
};

/** The colours, as a list below the picture. */
const pairLegend = (plot) => {
  const items = plot.colours.map((name, colour) => {
    const sign = svg("svg", { viewBox: "-6 -6 12 12", "aria-hidden": "true" }, svg("path", { class: colourClass(plot, colour), d: shapeOf(plot, colour)(0, 0) }));
    return html("li", {}, sign, html("bdi", { class: "cut", title: name }, ...breakable(name)));
  });
  return html("ul", { class: "legend" }, ...items);
};

const drawPairs = (place) => {
  place.querySelectorAll("figure[data-plot]").forEach((figure) => {
    const plot = report.interactions.plots.pairs[Number(figure.dataset.plot)];
    drawPair(figure, plot);
    figure.querySelectorAll(".legend").forEach((old) => old.remove());
    figure.append(pairLegend(plot));
  });
};
