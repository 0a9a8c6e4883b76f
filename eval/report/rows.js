// rows: ids and answers are unpacked when they are asked for, and drawn fifty at a time
const PAGE = 50;
const WORDS = { n: "none", b: "both", u: "unfinished", "-": "–" };
const OUTCOMES = ["consistently correct", "consistently incorrect", "inconsistent", "undecided"];
function made(tag, attributes = {}, ...inside) {
  const element = Object.assign(document.createElement(tag), attributes);
  element.append(...inside);
  return element;
}
function chooser(label, options, chosen = "") {
  const select = made("select", {}, ...options.map(([value, text]) => made("option", { value, selected: value === chosen }, text)));
  return [made("label", {}, label, select), select];
}
function unpacked(packed) {
  let before = "";
  return packed.split("\n").map((line) => {
    const gap = line.indexOf(" ");
    before = before.slice(0, parseInt(line.slice(0, gap), 36)) + line.slice(gap + 1);
    return before;
  });
}
function marked([text, mentions]) {
  const letters = Array.from(text), parts = [];
  let place = 0;
  for (const [start, end, kind] of mentions) {
    parts.push(letters.slice(place, start).join(""));
    parts.push(made("mark", { className: kind < 0 ? "pronoun" : `candidate c${kind}` }, letters.slice(start, end).join("")));
    place = end;
  }
  return [...parts, letters.slice(place).join("")];
}
class Rows {
  constructor(place, data) {
    this.data = data;
    this.ids = unpacked(data.ids);
    this.labels = Object.keys(data.answers);
    this.shown = PAGE;
    this.controls = made("div", { className: "controls" });
    this.count = made("p", { className: "count" });
    this.count.setAttribute("role", "status");
    this.head = made("thead");
    this.body = made("tbody");
    const table = made("table", {}, this.head, this.body);
    const scroll = made("div", { className: "scroll rows", tabIndex: 0 }, table);
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", place.dataset.name);
    this.more = made("button", { type: "button", className: "wide" }, "Show more");
    this.more.addEventListener("click", () => { this.shown += PAGE; this.draw(); });
    this.addControls();
    place.append(this.controls, this.count, scroll, this.more);
    this.controls.addEventListener("input", () => { this.shown = PAGE; this.draw(); });
    this.draw();
  }
  addControls() {
    const { right, columns = {}, switched } = this.data;
    const add = ([label, select]) => { this.controls.append(label); return select; };
    this.find = made("input", { type: "search", placeholder: this.data.texts ? "id or word" : "id" });
    this.controls.append(made("label", {}, "Find", this.find));
    const systems = this.labels.map((label) => [label, label]);
    this.a = add(chooser("System A", systems, this.labels[0]));
    this.b = add(chooser("System B", systems, this.labels[1] ?? this.labels[0]));
    const outcomes = [["", "any"], ["differ", "any two systems differ"], ["ab", "A and B differ"], ["silent", "A gives no one answer"]];
    if (right) outcomes.push(["10", "A right, B not"], ["01", "B right, A not"], ["11", "both right"], ["00", "neither right"], ["1", "A right"], ["0", "A not right"]);
    this.outcome = add(chooser("Answers", outcomes, this.labels.length > 1 ? "differ" : ""));
    this.columns = Object.entries(columns).map(([name, [values, codes]]) => {
      const options = [["", "any"], ...values.map((value, number) => [number.toString(36), value])];
      return { name: name.replaceAll("_", " "), values, codes, select: add(chooser(name.replaceAll("_", " "), options)) };
    });
    if (switched) this.pairs = add(chooser(`A, original against ${switched.name}`, [["", "any"], ...OUTCOMES.map((one) => [one, one])]));
  }
  isRight(label, row) { return this.data.right !== undefined && this.data.answers[label][row] === this.data.right[row]; }
  pair(label, row) {
    const { right, switched } = this.data;
    const [one, other] = [this.data.answers[label][row], switched.answers[label]?.[row] ?? "-"];
    if (switched.right[row] === "-") return "–"; // it cannot be switched
    if (!/\d/.test(one) || !/\d/.test(other)) return "undecided";
    const both = [one === right[row], other === switched.right[row]];
    return both[0] !== both[1] ? "inconsistent" : both[0] ? OUTCOMES[0] : OUTCOMES[1];
  }
  has(row) {
    const wanted = this.outcome.value, [a, b] = [this.a.value, this.b.value];
    const answer = (label) => this.data.answers[label][row];
    if (this.find.value && !`${this.ids[row]} ${this.data.texts?.[row]?.[0] ?? ""}`.toLowerCase().includes(this.find.value.toLowerCase())) return false;
    if (this.columns.some(({ select, codes }) => select.value && codes[row] !== select.value)) return false;
    if (this.pairs?.value && this.pair(a, row) !== this.pairs.value) return false;
    if (wanted === "differ") return this.labels.some((label) => answer(label) !== answer(this.labels[0]));
    if (wanted === "ab") return answer(a) !== answer(b);
    if (wanted === "silent") return !/\d/.test(answer(a));
    return [a, b].every((label, place) => wanted[place] === undefined || this.isRight(label, row) === (wanted[place] === "1"));
  }
  name(letter) { return WORDS[letter] ?? this.data.names?.[Number(letter)] ?? `choice ${Number(letter) + 1}`; }
  answer(label, row) {
    const letter = this.data.answers[label][row], sign = this.data.right === undefined || this.data.right[row] === "-" ? "" : this.isRight(label, row) ? "✓ " : "✗ ";
    return made("td", { className: sign.trim() === "✓" ? "right" : "" }, sign + this.name(letter));
  }
  draw() {
    const { right, switched, texts } = this.data, [a, b] = [this.a.value, this.b.value];
    const found = this.ids.map((_, row) => row).filter((row) => this.has(row));
    this.count.textContent = `${found.length.toLocaleString("en")} of ${this.ids.length.toLocaleString("en")} rows`;
    const heads = ["id", ...this.columns.map(({ name }) => name), ...(right ? ["right"] : []), a, b];
    if (switched) heads.push(`${a}, ${switched.name}`, `${b}, ${switched.name}`);
    if (right) heads.push("systems right");
    this.head.replaceChildren(made("tr", {}, ...heads.map((name) => made("th", { scope: "col" }, name))));
    this.body.replaceChildren(...found.slice(0, this.shown).flatMap((row) => {
      const cells = [made("th", { scope: "row" }, this.ids[row])];
      for (const { values, codes } of this.columns) cells.push(made("td", {}, values[parseInt(codes[row], 36)]));
      if (right) cells.push(made("td", {}, this.name(right[row])));
      cells.push(this.answer(a, row), this.answer(b, row));
      if (switched) cells.push(...[a, b].map((label) => made("td", {}, this.pair(label, row))));
      if (right) cells.push(made("td", {}, `${this.labels.filter((label) => this.isRight(label, row)).length} of ${this.labels.length}`));
      const rows = [made("tr", {}, ...cells)];
      if (texts?.[row]) rows.push(made("tr", { className: "text" }, made("td", { colSpan: heads.length }, ...marked(texts[row]))));
      return rows;
    }));
    this.more.hidden = found.length <= this.shown;
  }
}
for (const place of all(".browse")) {
  place.addEventListener("toggle", () => {
    const source = place.querySelector("script");
    if (place.open && source) { source.remove(); new Rows(place, JSON.parse(source.textContent)); }
  });
}
