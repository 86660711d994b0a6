// Heat maps of symmetric matrices: one hue for positive numbers, another for negative ones.

/** The colour scale. */
const drawLegend = (picture, left, top, most, signed, format) => {
  const steps = signed ? [-1, -0.5, 0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  picture.append(words(left, top + 11, signed ? format(-most) : "0"));
  const start = left + 8 + (signed ? 7 * format(-most).length : 8);
  steps.forEach((step, i) => {
    const kind = step === 0 ? "none" : step > 0 ? "up" : "down";
    picture.append(svg("rect", {
      class: `cell ${kind}`, x: start + 18 * i, y: top, width: 18, height: 14, rx: 2,
      "fill-opacity": step === 0 ? 1 : (0.04 + 0.96 * Math.abs(step)).toFixed(3),
    }));
  });
  const end = start + 18 * steps.length + 8;
  picture.append(words(end, top + 11, format(most)));
  const own = end + 7 * format(most).length + 14;
  picture.append(...diagonalSquare(own, top, 18, 14, 2), words(own + 26, top + 11, "diagonal"));
};

/** A square of the diagonal, with a dash to distinguish it from a 0. */
const diagonalSquare = (x, y, width, height, rx) => [
  svg("rect", { class: "cell none", x, y, width, height, rx }),
  svg("line", { class: "own", x1: x + width * 0.3, x2: x + width * 0.7, y1: y + height / 2, y2: y + height / 2 }),
];

/**
 * labels: names of rows and columns; matrix[i][j]: a number or null; describe(i, j): tooltip of a cell;
 * format(x): text of a number of the matrix; least: the darkest colour stands for no smaller number, so that
 * small numbers look small.
 * Columns are labelled with the numbers of the rows, so that no name has to be rotated.
 */
const drawMatrix = (figure, { labels, strong, matrix, describe, title, format = sig, least = 1e-12 }) => {
  const roomy = figure.clientWidth >= 560;
  const n = labels.length;
  const width = Math.max(260, Math.round(figure.clientWidth));
  const beside = roomy ? 190 : 118;
  // Narrow screens show numbers, and a list of the names below; touching a square shows its two names.
  const named = (width - beside - 4) / n >= 12;
  const left = named ? beside : 26;
  const side = clamp((width - left - 4) / n, 4, 40);
  const numbered = side >= 12;
  // Numbers of two digits need more room beside each other than below each other.
  const every = side >= 18 || n < 10 ? 1 : 5;
  const { picture } = canvas(figure, Math.round(side * n + 56), title);
  const top = 22;
  const off = matrix.flatMap((row, i) => row.filter((value, j) => i !== j && value !== null).map(Math.abs));
  const most = Math.max(...off, least);
  const marks = [];
  matrix.forEach((row, i) => {
    const y = top + side * (i + 0.5) + 4;
    const ink = { "text-anchor": "end", class: strong(i) ? "strong" : "" };
    if (named) picture.append(words(left - 30, y, short(labels[i], roomy ? 22 : 11), ink));
    if (numbered) picture.append(words(left - 8, y, String(i + 1), named ? { "text-anchor": "end" } : ink));
    if (numbered && (i + 1) % every === 0) {
      picture.append(words(left + side * (i + 0.5), top - 7, String(i + 1), { "text-anchor": "middle" }));
    }
    row.forEach((value, j) => {
      if (i === j) {
        const parts = diagonalSquare(left + side * j, top + side * i, side, side, Math.min(3, side / 6));
        picture.append(...parts);
        marks.push({ node: parts[0], x: left + side * (j + 0.5), y: top + side * (i + 0.5), lines: [labels[i], "diagonal"] });
        return;
      }
      const kind = value === null ? "none" : value >= 0 ? "up" : "down";
      const node = svg("rect", {
        class: `cell ${kind}`, x: left + side * j, y: top + side * i, width: side, height: side, rx: Math.min(3, side / 6),
        "fill-opacity": kind === "none" ? 1 : (0.04 + 0.96 * Math.min(1, Math.abs(value) / most)).toFixed(3),
      });
      picture.append(node);
      marks.push({ node, x: left + side * (j + 0.5), y: top + side * (i + 0.5), lines: describe(i, j) });
    });
  });
  drawLegend(picture, left, top + side * n + 14, most, matrix.flat().some((value) => value < 0), format);
  explore(picture, marks, { reach: side });
  figure.querySelectorAll(".legend").forEach((old) => old.remove());
  if (!named && numbered) {
    const items = labels.map((label, i) => html("li", {}, `${i + 1} ${short(label, 40)}`));
    figure.append(html("ul", { class: "legend" }, ...items));
  }
};

const drawRedundancy = (figure) => {
  const { ids, matrix } = report.redundancy;
  drawMatrix(figure, {
    labels: ids.map(nameOf),
    strong: (i) => isSelected(ids[i]),
    matrix,
    title: "SMI between pairs of features",
    least: 0.5, // from here on, one feature can replace the other
    describe: (i, j) => [`${nameOf(ids[i])} and ${nameOf(ids[j])}`, `SMI ${sig(matrix[i][j])}`],
  });
};

const drawInteractions = (figure) => {
  const { ids, matrix } = report.interactions;
  drawMatrix(figure, {
    labels: ids.map(nameOf),
    strong: () => true,
    matrix,
    title: "Interactions between pairs of features",
    least: 4, // seldom reached by chance
    describe: (i, j) => [
      `${nameOf(ids[i])} and ${nameOf(ids[j])}`,
      matrix[i][j] > 0 ? `z-score of their interaction: ${sig(matrix[i][j])}` : "no interaction beyond chance",
    ],
  });
};

const drawAgreement = (figure) => {
  const { names, sizes, shared } = report.comparison.agreement;
  drawMatrix(figure, {
    labels: names,
    strong: () => true,
    matrix: shared,
    format: String,
    title: "Features that two methods have in common",
    describe: (i, j) => [`${names[i]} and ${names[j]}`, `${shared[i][j]} of ${sizes[i] === sizes[j] ? sizes[i] : `${sizes[i]} and ${sizes[j]}`} features in common`],
  });
};
