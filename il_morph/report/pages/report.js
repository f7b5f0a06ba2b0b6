"use strict";
// The errors of a report: filtered, sorted, each with its edits and its steps.

const data = JSON.parse(document.getElementById("data").textContent);
const several = data.runs.length > 1;
const tagged = document.getElementById("pos") !== null;
const BATCH = 100;
const COLUMNS = [
  { title: "Line", key: (error) => error.line },
  { title: "Input", key: (error) => error.input },
  ...(tagged ? [{ title: "Features", key: (error) => error.tag }] : []),
  { title: "Gold", key: (error) => error.gold },
  { title: several ? "Wrong predictions" : "Prediction", key: (error) => wrongOutputs(error)[0] },
  ...(several ? [{ title: "Wrong in", key: (error) => error.wrong.length }] : []),
  { title: "Prediction to gold", key: (error) => error.edits[wrongOutputs(error)[0]].filter(([kind]) => kind !== "copy").length },
  { title: "First wrong step", key: (error) => error.confusions.find(Boolean) || "" },
];
let order = { column: 0, down: false };
let limit = BATCH;

function wrongOutputs(error) {
  return [...new Set(error.wrong.map((run) => error.outputs[run]))];
}

function byId(id) {
  return document.getElementById(id);
}

function value(id) {
  return byId(id) ? byId(id).value : "";
}

function matches(error) {
  const text = value("text").trim().toLowerCase();
  const fields = [error.input, error.tag, error.gold, ...error.outputs].map((field) => field.toLowerCase());
  const run = value("run");
  return (!text || fields.some((field) => field.includes(text)))
    && (!value("pos") || `=${error.pos}` === value("pos"))
    && (!value("confusion") || error.confusions.includes(value("confusion")))
    && (!run || (run === "all" ? error.wrong.length === data.runs.length : error.wrong.includes(Number(run))));
}

function compare(one, other) {
  const { key } = COLUMNS[order.column];
  const [a, b] = [key(one), key(other)];
  const sign = typeof a === "number" ? a - b : a < b ? -1 : a > b ? 1 : 0;
  return (order.down ? -sign : sign) || one.line - other.line;
}

function header() {
  return element("tr", {}, element("th", { scope: "col" }, element("span", { class: "visually-hidden" }, "Steps")), ...COLUMNS.map(({ title }, column) => {
    const sorted = column === order.column ? (order.down ? "descending" : "ascending") : null;
    const button = element("button", { type: "button", class: "sort", onclick: () => sortBy(column) }, title,
      element("span", { "aria-hidden": "true" }, sorted ? (order.down ? " ▾" : " ▴") : ""));
    return element("th", { scope: "col", "aria-sort": sorted }, button);
  }));
}

function sortBy(column) {
  order = { column, down: column === order.column && !order.down };
  update();
  byId("error-table").querySelectorAll("th button")[column].focus();
}

function row(error) {
  const outputs = wrongOutputs(error);
  const cells = [
    element("td", { class: "figure" }, String(error.line)), element("td", {}, formElement(error.input)),
    tagged ? element("td", { class: "features" }, ...breakable(error.tag)) : null, element("td", {}, formElement(error.gold)),
    element("td", {}, ...outputs.map((output) => element("div", {}, formElement(output)))),
    several ? element("td", { class: "figure" }, `${error.wrong.length} of ${data.runs.length}`) : null,
    element("td", {}, ...outputs.map((output) => element("div", { class: "chips small", dir: error.direction },
      ...error.edits[output].map((edit) => chip(edit, error.shown))))),
    element("td", { class: "reason" }, ...[...new Set(error.confusions.filter(Boolean))].map((each) => element("div", {}, element("bdi", {}, each)))),
  ].filter(Boolean);
  const made = element("tr", {}, ...cells);
  const button = element("button", { type: "button", class: "plain", "aria-expanded": "false", "aria-label": `Steps of line ${error.line}`, onclick: () => toggle(error, made, button) }, "Steps");
  made.prepend(element("td", {}, button));
  return made;
}

function toggle(error, above, button) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  if (open) above.nextSibling.remove();
  else above.after(element("tr", { class: "steps" }, element("td", { colspan: COLUMNS.length + 1 }, ...steps(error))));
}

function breakable(tag) {
  return tag.split(/(?<=[;,|])/).flatMap((part) => [part, element("wbr")]);
}

function steps(error) {
  return error.wrong.map((run) => {
    const title = several ? element("h4", {}, data.runs[run], " ", formElement(error.outputs[run])) : null;
    const trace = error.traces[run];
    const body = trace ? new TraceViewer(trace).root : element("p", { class: "muted" }, "The steps of this prediction are unknown.");
    return element("div", { class: "card" }, title, body);
  });
}

function update() {
  const found = data.errors.filter(matches).sort(compare);
  const table = byId("error-table");
  table.tHead.replaceChildren(header());
  table.tBodies[0].replaceChildren(...found.slice(0, limit).map(row));
  const shownRows = Math.min(limit, found.length);
  byId("count").textContent = found.length === 0 ? "No errors match."
    : `${found.length} of ${data.errors.length} errors` + (shownRows < found.length ? `, showing the first ${shownRows}` : "");
  byId("more").classList.toggle("hidden", shownRows === found.length);
}

function choices(id, values) {
  byId(id).append(...values.map(([key, text]) => element("option", { value: key }, text)));
}

function counted(values) {
  const counts = new Map();
  for (const each of values) counts.set(each, (counts.get(each) || 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}

if (data.errors.length) {
  if (tagged) choices("pos", counted(data.errors.map((error) => error.pos)).map(([pos, count]) => [`=${pos}`, `${pos || "(none)"} (${count})`]));
  choices("confusion", counted(data.errors.flatMap((error) => [...new Set(error.confusions.filter(Boolean))])).map(([label, count]) => [label, `${label} (${count})`]));
  if (several) choices("run", data.runs.map((name, run) => [String(run), name]));
  const changed = () => { limit = BATCH; update(); };
  byId("filters").addEventListener("input", changed);
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("reset", () => setTimeout(changed));
  byId("more").addEventListener("click", () => { limit += BATCH; update(); });
  for (const button of document.querySelectorAll("button.confusion")) {
    button.addEventListener("click", () => {
      byId("confusion").value = button.dataset.confusion;
      changed();
      byId("errors").scrollIntoView();
      byId("confusion").focus();
    });
  }
  update();
}
