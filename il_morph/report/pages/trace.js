"use strict";
// Shows a trace (il_morph/report/trace.py, Trace.as_dict): its edits as chips, and one step at a time.
// Everything from data becomes text, never markup.

const SIGNS = { insert: "+", delete: "−", substitute: "~" };
const PLAIN = { end: "end", step: "›", idle: "·" };

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function shownForm(form) {
  return form === "" ? "∅" : form.replace(/^ +| +$| {2,}/g, (blanks) => "␣".repeat(blanks.length));
}

function formElement(form, kind = "form") {
  return element("bdi", { class: kind }, shownForm(form));
}

function percent(probability) {
  if (probability === null) return "–";
  return probability > 0 && probability < 0.001 ? "< 0.1 %" : `${(100 * probability).toFixed(1)} %`;
}

function chipContent(kind, character, shown) {
  const sign = SIGNS[kind] ? element("span", { class: "sign" }, SIGNS[kind]) : null;
  return [sign, element("bdi", {}, character === "" ? PLAIN[kind] || kind : shown[character] || character)];
}

function editLabel([kind, character], shown) {
  return character === "" ? kind : `${kind} ${shown[character] || character}`;
}

function chip([kind, character], shown, verdict) {
  const marked = verdict === "wrong" || verdict === "detour" ? ` ${verdict}` : "";
  return element("span", { class: `chip ${kind}${marked}`, title: editLabel([kind, character], shown) },
    ...chipContent(kind, character, shown).filter(Boolean));
}

function bar(fraction) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [key, value] of [["class", "bar"], ["viewBox", "0 0 100 10"], ["preserveAspectRatio", "none"], ["aria-hidden", "true"]]) svg.setAttribute(key, value);
  for (const [kind, width] of [["track", 100], ["fill", 100 * fraction]]) {
    const rect = document.createElementNS(space, "rect");
    rect.setAttribute("class", kind);
    rect.setAttribute("width", width.toFixed(2));
    rect.setAttribute("height", 10);
    svg.append(rect);
  }
  return svg;
}

class TraceViewer {
  constructor(trace) {
    this.trace = trace;
    this.outputs = [];
    const written = []; // symbols; one that holds the separator cannot stand in an output
    for (const [, [kind, symbol]] of trace.steps) {
      if ((kind === "copy" || kind === "insert" || kind === "substitute") && (trace.separator === "" || !symbol.includes(trace.separator))) written.push(symbol);
      this.outputs.push(written.join(trace.separator));
    }
    this.chips = trace.steps.map((step, number) => this.chipButton(step, number));
    this.panel = element("div", { class: "panel", "aria-live": "polite" });
    this.back = element("button", { type: "button", class: "plain", onclick: () => this.show(this.current - 1) }, "‹ Back");
    this.next = element("button", { type: "button", class: "plain", onclick: () => this.show(this.current + 1) }, "Next ›");
    const edits = element("div", { class: "chips", dir: trace.direction, role: "toolbar", "aria-label": "Steps", onkeydown: (event) => this.key(event) }, ...this.chips);
    this.root = element("div", { class: "trace" }, edits, element("div", { class: "stepper" }, this.back, this.next, this.panel));
    this.show(trace.first_wrong ? trace.first_wrong - 1 : 0);
  }

  chipButton([, edit, probability, , , verdict], number) {
    const marked = verdict === "wrong" || verdict === "detour" ? ` ${verdict}` : "";
    const label = `Step ${number + 1}: ${editLabel(edit, this.trace.shown)}${probability === null ? "" : `, ${percent(probability)}`}${marked && `,${marked}`}`;
    return element("button", { type: "button", class: `chip ${edit[0]}${marked}`, "aria-label": label, onclick: () => this.show(number) },
      ...chipContent(edit[0], edit[1], this.trace.shown).filter(Boolean));
  }

  key(event) {
    const forward = this.trace.direction === "rtl" ? -1 : 1;
    const moves = { ArrowRight: this.current + forward, ArrowLeft: this.current - forward, Home: 0, End: this.chips.length - 1 };
    if (!(event.key in moves)) return;
    event.preventDefault();
    this.show(moves[event.key]);
    this.chips[this.current].focus();
  }

  show(number) {
    this.current = Math.max(0, Math.min(this.chips.length - 1, number));
    this.chips.forEach((each, index) => {
      each.tabIndex = index === this.current ? 0 : -1;
      if (index === this.current) each.setAttribute("aria-current", "step");
      else each.removeAttribute("aria-current");
    });
    this.back.disabled = this.current === 0;
    this.next.disabled = this.current === this.chips.length - 1;
    this.panel.replaceChildren(...this.details(this.trace.steps[this.current]));
  }

  details([at, edit, probability, others, optimal, verdict]) {
    const { shown } = this.trace;
    const rows = [[edit, probability], ...others.map(([kind, character, p]) => [[kind, character], p])];
    const list = rows.map(([each, p], index) => element("li", {}, chip(each, shown, index === 0 ? verdict : null),
      element("span", { class: "word" }, ` ${editLabel(each, shown)}`), p === null ? element("span") : bar(p), element("span", { class: "figure" }, percent(p))));
    const expert = optimal.length
      ? element("p", {}, "The expert would ", ...optimal.flatMap((each, index) => [index ? " or " : "", element("b", {}, editLabel(each, shown))]), ".")
      : null;
    return [
      element("p", { class: "where" }, element("b", {}, `Step ${this.current + 1} of ${this.chips.length}`),
        verdict === "wrong" || verdict === "detour" ? element("span", { class: verdict === "wrong" ? "bad" : "odd" }, ` ${verdict}`) : null),
      this.tape(at), element("p", { class: "so-far" }, element("span", { class: "muted" }, "Output so far "), formElement(this.outputs[this.current])),
      element("ul", { class: "choices" }, ...list), expert].filter(Boolean);
  }

  tape(at) {
    const cells = this.trace.tape;
    return element("p", { class: "tape", dir: this.trace.direction },
      element("span", { class: "visually-hidden" }, `Reads ${cells[at]}`),
      ...cells.map((cell, index) => element("bdi", { "aria-hidden": "true", class: index === at ? "cell head" : index < at ? "cell read" : "cell" }, cell)));
  }
}
