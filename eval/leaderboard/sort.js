"use strict";
// a click on a heading sorts by it, a second one the other way round
const said = document.getElementById("said");
const tables = [...document.querySelectorAll("table.sortable")];
function sort(table, heading) {
  const headings = [...table.tHead.rows[0].cells];
  const column = headings.indexOf(heading);
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
}
function addButtons() {
  for (const table of tables) {
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, heading));
      heading.append(button);
    }
  }
}
addButtons();
// a heading in a button is not repeated on the next sheet of paper
addEventListener("beforeprint", () => {
  for (const button of document.querySelectorAll("thead button")) button.replaceWith(...button.childNodes);
});
addEventListener("afterprint", addButtons);
