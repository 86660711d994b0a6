// Score against the number of features, and the set of each size.

/** A score, or a share that is predicted in unseen rows. */
const scoreText = (sizes, set) => (sizes.unseen ? `${percent(set.score)} predicted in unseen rows` : `score ${sig(set.score)}`);

/** The curve with the selected size, and standard errors where there are any; pressing a point calls `choose`. */
const drawCurve = (figure, sizes, choose) => {
  const roomy = figure.clientWidth >= 560;
  const label = sizes.unseen ? "Prediction of unseen rows against the number of features" : "Score against the number of features";
  const { picture, width, height } = canvas(figure, roomy ? 320 : 270, label);
  const frame = { left: 58, right: width - 22, top: 30, bottom: height - 46 };
  const known = sizes.sets.filter((set) => set.score !== null);
  const factor = sizes.unseen ? 100 : 1;
  const ends = known.flatMap((set) => [set.score - (set.error ?? 0), set.score + (set.error ?? 0)]);
  const low = Math.min(0, ...ends) * factor;
  const high = Math.max(...ends.map((end) => end * factor), low + 1e-9);
  const x = scale([sizes.sets[0].size, sizes.sets[sizes.sets.length - 1].size], [frame.left + 8, frame.right]);
  const place = scale([low, high], [frame.bottom, frame.top]);
  const y = (score) => place(score * factor);
  const across = ticks(low, high, 5);
  gridLines(picture, across.values, across.step, place, frame.left, frame.right, sizes.unseen ? "\u202f%" : "");
  const below = ticks(sizes.sets[0].size, sizes.sets[sizes.sets.length - 1].size, Math.max(2, Math.floor(width / 70)));
  for (const value of below.values.filter(Number.isInteger)) {
    picture.append(words(x(value), frame.bottom + 18, value.toLocaleString("en"), { "text-anchor": "middle" }));
  }
  picture.append(words((frame.left + frame.right) / 2, frame.bottom + 38, "number of features", { "text-anchor": "middle" }));
  const at = x(sizes.asked);
  const anchor = at > width - 60 ? "end" : at < 60 ? "start" : "middle";
  picture.append(
    svg("line", { class: "rule", x1: at, x2: at, y1: frame.top - 8, y2: frame.bottom }),
    words(at, frame.top - 14, `selected: ${sizes.asked.toLocaleString("en")}`, { class: "other", "text-anchor": anchor }),
  );
  for (const set of known.filter((other) => other.error)) {
    picture.append(svg("line", { class: "spread", x1: x(set.size), x2: x(set.size), y1: y(set.score - set.error), y2: y(set.score + set.error) }));
  }
  const d = known.map((set, i) => `${i ? "L" : "M"}${x(set.size).toFixed(1)} ${y(set.score).toFixed(1)}`).join("");
  picture.append(svg("path", { class: "curve", d }));
  const marks = known.map((set) => {
    const node = svg("circle", {
      class: set.size === sizes.asked ? "point asked" : "point",
      cx: x(set.size), cy: y(set.score), r: known.length > 40 ? 3.5 : 5, "data-size": set.size,
    });
    picture.append(node);
    const lines = [count(set.size, "feature"), scoreText(sizes, set)];
    if (set.error) lines.push(`standard error ${percent(set.error)}`);
    if (set.size === sizes.asked) lines.push("the selected set");
    return { node, x: x(set.size), y: y(set.score), size: set.size, index: sizes.sets.indexOf(set), lines };
  });
  explore(picture, marks, {
    start: marks.findIndex((mark) => mark.size === sizes.asked),
    press: (i) => choose(marks[i].index),
    lit: (i) => {
      // Moving by keyboard also shows the set.
      if (document.activeElement === marks[i].node) choose(marks[i].index);
    },
  });
};

/** The set of one size as a list of names, compared with the selected set. */
const showSet = (place, sizes, set) => {
  const selected = sizes.sets.find((other) => other.size === sizes.asked);
  const compared = !sizes.unseen && selected && selected.score > 0 && set.size !== sizes.asked;
  const share = compared ? ` (${Math.round((set.score / selected.score) * 100)} % of the score of the selected set)` : "";
  const text = set.score === null ? "" : `${scoreText(sizes, set)}${share}.`;
  const score = text.charAt(0).toUpperCase() + text.slice(1);
  const extra = set.ids.filter((id) => !isSelected(id)).length;
  const note = extra ? ` Dashed: ${count(extra, "feature")} outside the selected set.` : "";
  const items = set.ids.map((id) =>
    html("li", isSelected(id) ? {} : { class: "extra" }, html("bdi", { class: "cut", title: nameOf(id) }, ...breakable(nameOf(id)))),
  );
  if (set.n_left_out) items.push(html("li", {}, `and ${set.n_left_out.toLocaleString("en")} more`));
  place.replaceChildren(html("p", { class: "small" }, score + note), html("ul", { class: "chips" }, ...items));
};

const drawSizes = (figure) => {
  const sizes = report.sizes;
  const slider = document.getElementById("size");
  const output = document.getElementById("size-output");
  const place = document.getElementById("size-set");
  // The value of the slider is the index of a set, because sizes may have gaps.
  const choose = (index) => {
    const set = sizes.sets[index];
    slider.value = index;
    output.textContent = set.size.toLocaleString("en");
    slider.setAttribute("aria-valuetext", count(set.size, "feature"));
    showSet(place, sizes, set);
    figure.querySelectorAll(".point").forEach((point) => point.classList.toggle("current", Number(point.dataset.size) === set.size));
  };
  drawCurve(figure, sizes, choose);
  if (slider.dataset.ready) {
    choose(Number(slider.value));
    return;
  }
  slider.dataset.ready = "yes";
  slider.addEventListener("input", () => choose(Number(slider.value)));
  choose(sizes.sets.findIndex((set) => set.size === sizes.asked));
};
