"use strict";
// a click on a heading sorts by it, a second one the other way round
const said = document.getElementById("said");
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const rising = before ? before === "descending" : heading.dataset.first === "up";
      const sign = rising ? 1 : -1;
      headings.forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
      const undefinedLast = (a, b) => (a === "–") - (b === "–");
      const compare = (a, b) => undefinedLast(a, b) || sign * (isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b);
      const rows = [...table.tBodies[0].rows].map((row) => [key(row), row]);
      table.tBodies[0].append(...rows.sort(([a], [b]) => compare(a, b)).map(([, row]) => row));
      said.textContent = `Sorted by ${heading.textContent}, ${heading.getAttribute("aria-sort")}`;
    });
  });
}
