// Tooltips: the marks of a plot are reached by pointer, touch and keyboard.
const tip = html("div", { id: "tip", role: "status", "aria-live": "polite" });
document.body.append(tip);

let followMark = () => {};
const hideTip = () => {
  followMark = () => {};
  tip.classList.remove("shown");
};

/** Show lines of text near a position, inside the window. */
const showTip = (lines, x, y) => {
  tip.replaceChildren(...lines.map((line) => html("div", { dir: "auto" }, ...breakable(line))));
  const { width, height } = tip.getBoundingClientRect();
  const left = clamp(x - width / 2, 8, Math.max(8, window.innerWidth - width - 8));
  const above = y - height - 14;
  const top = above >= 8 ? above : Math.min(y + 18, window.innerHeight - height - 8);
  tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  tip.classList.add("shown");
};

const DIRECTIONS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

/** The nearest mark in the direction of an arrow key; the same mark where there is none. */
const neighbour = (marks, from, [dx, dy]) => {
  let best = from;
  let least = Infinity;
  marks.forEach((mark, i) => {
    const along = (mark.x - marks[from].x) * dx + (mark.y - marks[from].y) * dy;
    const across = Math.abs((mark.x - marks[from].x) * dy) + Math.abs((mark.y - marks[from].y) * dx);
    if (along > 0.5 && along + 4 * across < least) {
      least = along + 4 * across;
      best = i;
    }
  });
  return best;
};

/**
 * Make the marks of a plot focusable. A mark is {node, x, y, lines}: an element, its position in the plot and
 * the text of its tooltip. One mark is in the tab order; arrow keys move to the others.
 */
const explore = (picture, marks, { start = 0, reach = 48, lit = () => {}, dark = () => {}, press = () => {} } = {}) => {
  if (marks.length === 0) return;
  let stop = clamp(start, 0, marks.length - 1);
  let shown = -1;

  const hide = () => {
    if (shown >= 0) {
      marks[shown].node.classList.remove("lit");
      dark(shown);
    }
    shown = -1;
    hideTip();
  };
  const show = (i) => {
    if (shown !== i) hide();
    shown = i;
    marks[i].node.classList.add("lit");
    lit(i);
    followMark = () => {
      const frame = picture.getBoundingClientRect();
      const factor = frame.width / picture.viewBox.baseVal.width;
      showTip(marks[i].lines, frame.left + marks[i].x * factor, frame.top + marks[i].y * factor);
    };
    followMark();
  };
  const nearest = (event) => {
    const frame = picture.getBoundingClientRect();
    const factor = frame.width / picture.viewBox.baseVal.width;
    const x = (event.clientX - frame.left) / factor;
    const y = (event.clientY - frame.top) / factor;
    const far = marks.map((mark) => Math.hypot(mark.x - x, mark.y - y));
    const best = far.indexOf(Math.min(...far));
    return far[best] <= reach ? best : -1;
  };
  const moveStop = (i) => {
    marks[stop].node.setAttribute("tabindex", "-1");
    stop = i;
    marks[stop].node.setAttribute("tabindex", "0");
  };

  marks.forEach((mark, i) => {
    mark.node.setAttribute("role", "img");
    mark.node.setAttribute("tabindex", i === stop ? "0" : "-1");
    mark.node.setAttribute("aria-label", mark.lines.join("; "));
    mark.node.classList.add("mark");
    mark.node.addEventListener("focus", () => {
      moveStop(i);
      show(i);
    });
    mark.node.addEventListener("blur", hide);
  });
  picture.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    if (event.key === "Enter" || event.key === " ") press(stop);
    const ends = { Home: 0, End: marks.length - 1 };
    const direction = DIRECTIONS[event.key];
    if (!direction && !(event.key in ends) && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (direction) marks[neighbour(marks, stop, direction)].node.focus();
    else if (event.key in ends) marks[ends[event.key]].node.focus();
  });
  const follow = (event) => {
    const i = nearest(event);
    if (i >= 0) show(i);
    else hide();
  };
  picture.addEventListener("pointermove", follow);
  picture.addEventListener("pointerdown", follow);
  picture.addEventListener("click", (event) => {
    const i = nearest(event);
    if (i >= 0) press(i);
  });
  picture.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") hide();
  });
};

// Keyboard focus scrolls marks into view, and the tooltip follows them. Any other scrolling hides it.
const onScroll = () => (document.activeElement.classList.contains("mark") ? followMark() : hideTip());
window.addEventListener("scroll", onScroll, { passive: true });
