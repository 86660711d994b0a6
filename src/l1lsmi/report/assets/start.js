// Draw every picture, and draw it anew when its room changes.
const DRAWERS = {
  path: drawPath,
  sizes: drawSizes,
  redundancy: drawRedundancy,
  interactions: drawInteractions,
  plots: drawFeatures,
  held_out: drawHeldOut,
  comparison: drawComparison,
  agreement: drawAgreement,
};

const redraw = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const width = Math.round(target.clientWidth);
    if (width === 0 || target.dataset.width === String(width)) continue;
    target.dataset.width = String(width);
    DRAWERS[target.dataset.picture](target);
  }
});
for (const place of document.querySelectorAll("[data-picture]")) {
  place.dataset.width = String(Math.round(place.clientWidth));
  DRAWERS[place.dataset.picture](place);
  redraw.observe(place);
}

// -- light and dark
const toggle = document.getElementById("theme");
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark";
const nameToggle = () => {
  toggle.textContent = isDark() ? "Light" : "Dark";
  toggle.setAttribute("aria-label", `Show this page ${isDark() ? "light" : "dark"}`);
};
toggle.hidden = false;
toggle.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameToggle();
});
dark.addEventListener("change", nameToggle);
nameToggle();

// -- copying what is needed to do it again
for (const button of document.querySelectorAll("button[data-copies]")) {
  const source = document.getElementById(button.dataset.copies);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      // Without leave to write the clipboard the text is marked, ready for the keyboard.
      window.getSelection().selectAllChildren(source);
      button.textContent = "Marked: press Ctrl-C";
    }
  });
}

// -- on paper nothing is folded away
let folded = [];
window.addEventListener("beforeprint", () => {
  hideTip();
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const part of folded) part.open = true;
});
window.addEventListener("afterprint", () => {
  for (const part of folded) part.open = false;
  folded = [];
});
