"use strict";
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const root = document.documentElement;

// theme: the reader's choice, else the system's
const themeButton = document.getElementById("theme");
const systemDark = matchMedia("(prefers-color-scheme: dark)");
let chosen = null;
try { chosen = localStorage.getItem("pronominal-theme"); } catch { /* a page from disk may have no storage */ }
function showTheme() {
  root.dataset.theme = chosen ?? (systemDark.matches ? "dark" : "light");
  themeButton.textContent = root.dataset.theme === "dark" ? "Light" : "Dark";
  themeButton.setAttribute("aria-label", `Switch to ${themeButton.textContent.toLowerCase()} colours`);
}
themeButton.addEventListener("click", () => {
  chosen = root.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("pronominal-theme", chosen); } catch { /* not kept, then */ }
  showTheme();
});
systemDark.addEventListener("change", showTheme);
showTheme();

// sorting: a click on a heading sorts by it, a second one the other way round
const said = document.getElementById("said");
function valueOf(cell) {
  const number = /^\s*<?\s*[+-]?[\d,]*\.?\d+/.exec(cell.textContent);
  return number ? parseFloat(number[0].replace(/[,<\s]/g, "")) : null;
}
function compare(a, b, direction) {
  const [x, y] = [valueOf(a), valueOf(b)];
  if (x !== null && y !== null) return direction * (x - y);
  if (x === null && y === null) return direction * a.textContent.localeCompare(b.textContent);
  return x === null ? 1 : -1; // what is undefined comes last, either way
}
function sort(table, heading) {
  const column = [...heading.parentElement.children].indexOf(heading);
  const first = column === 0 ? "ascending" : "descending";
  const other = column === 0 ? "descending" : "ascending";
  const order = heading.getAttribute("aria-sort") === first ? other : first;
  for (const th of heading.parentElement.children) th.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", order);
  const direction = order === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => compare(a.cells[column], b.cells[column], direction));
  table.tBodies[0].append(...rows);
  said.textContent = `Sorted by ${heading.textContent}, ${order}`;
}
const headings = all("thead th");
function addButtons() {
  for (const th of headings) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...th.childNodes);
    button.addEventListener("click", () => sort(th.closest("table"), th));
    th.append(button);
  }
}
addButtons();

// filtering: what is about a hidden system goes, and charts close the gaps
const boxes = all(".systems input");
for (const chart of all("svg.chart")) {
  const rows = all("g.row", chart);
  if (rows.length) chart.dataset.top = /translate\(0 ([\d.]+)/.exec(rows[0].getAttribute("transform"))[1];
}
function closeColumns(chart) {
  if (!chart.dataset.side) return;
  const hidden = all("g.heads g.col", chart).map((head) => head.hasAttribute("hidden"));
  for (const line of all("g.heads, g.row", chart)) {
    let x = parseFloat(chart.dataset.left);
    all("g.col", line).forEach((column, place) => {
      column.toggleAttribute("hidden", hidden[place]);
      if (hidden[place]) return;
      column.setAttribute("transform", `translate(${x})`);
      x += parseFloat(chart.dataset.side);
    });
  }
}
function close(chart) {
  closeColumns(chart);
  let y = parseFloat(chart.dataset.top);
  for (const row of all("g.row", chart).filter((row) => !row.hasAttribute("hidden"))) {
    row.setAttribute("transform", `translate(0 ${y})`);
    y += parseFloat(row.dataset.height);
  }
  const width = chart.viewBox.baseVal.width;
  chart.setAttribute("viewBox", `0 0 ${width} ${y + 4}`);
  chart.setAttribute("height", y + 4);
}
function filter() {
  const hidden = new Set(boxes.filter((box) => !box.checked).map((box) => box.value));
  for (const part of all("[data-system]")) part.toggleAttribute("hidden", hidden.has(part.dataset.system));
  for (const part of all("[data-systems]")) {
    part.hidden = JSON.parse(part.dataset.systems).some((system) => hidden.has(system));
  }
  all("svg.chart[data-top]").forEach(close);
  const shown = boxes.length - hidden.size;
  document.getElementById("shown").textContent = `${shown} of ${boxes.length}`;
  said.textContent = `${shown} of ${boxes.length} systems shown`;
}
boxes.forEach((box) => box.addEventListener("change", filter));
document.getElementById("every").addEventListener("click", () => {
  const on = boxes.some((box) => !box.checked);
  boxes.forEach((box) => { box.checked = on; });
  filter();
});
const menu = document.querySelector(".systems");
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && menu.open) { menu.open = false; menu.firstElementChild.focus(); }
});
document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });

// the first screen: the measure that is chosen
for (const choice of all(".choice")) {
  choice.addEventListener("change", () => {
    const wanted = choice.querySelector(":checked").value;
    for (const part of all("[data-measure]", choice.closest("section"))) part.hidden = part.dataset.measure !== wanted;
  });
}

// paper has no details to open, and no rows to browse; a heading in a button is not repeated on the next sheet
addEventListener("beforeprint", () => {
  all("details.more:not(.browse)").forEach((part) => { part.open = true; });
  all("thead button").forEach((button) => button.replaceWith(...button.childNodes));
});
addEventListener("afterprint", addButtons);
