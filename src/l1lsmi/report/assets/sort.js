// Tables that can be sorted: the heading of each column is a button.

/** The number that a cell shows, or its text. */
const cellValue = (row, place) => {
  const text = row.cells[place].textContent.trim();
  const number = Number(text.replace(/[,%\s\u202f]/g, "").replace("\u2212", "-"));
  return text === "" || Number.isNaN(number) ? text : number;
};

const sortTable = (table, place, heading) => {
  const down = heading.getAttribute("aria-sort") !== "descending";
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row, i) => ({ row, i, value: cellValue(row, place) }));
  const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b)));
  rows.sort((a, b) => (down ? compare(b.value, a.value) : compare(a.value, b.value)) || a.i - b.i);
  body.append(...rows.map(({ row }) => row));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
};

for (const table of document.querySelectorAll("table.sortable")) {
  for (const [place, heading] of [...table.tHead.rows[0].cells].entries()) {
    if (!heading.textContent) continue;
    const button = html("button", { type: "button", class: "sort" }, heading.textContent);
    button.addEventListener("click", () => sortTable(table, place, heading));
    heading.replaceChildren(button);
  }
}
