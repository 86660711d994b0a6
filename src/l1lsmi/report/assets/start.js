// Draw all plots, and redraw them when their width changes.
const DRAWERS = {
  path: drawPath,
  sizes: drawSizes,
  redundancy: drawRedundancy,
  interactions: drawInteractions,
  plots: drawFeatures,
  pairs: drawPairs,
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

// -- light and dark theme
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

// -- buttons that copy the command and the code
for (const button of document.querySelectorAll("button[data-copies]")) {
  const source = document.getElementById(button.dataset.copies);
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      button.textContent = "Copied";
    } catch {
      // Without access to the clipboard, the text is selected for copying by keyboard.
      window.getSelection().selectAllChildren(source);
      button.textContent = "Selected: press Ctrl-C";
    }
  });
}

window.addEventListener("beforeprint", hideTip);
