"use strict";
// The page to try words in. Everything that comes from models and files becomes text, never markup.

const LARGEST_FILE = 5 * 1024 * 1024;
const byId = (id) => document.getElementById(id);
let models = [];

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (failure) {
    throw new Error("The server does not respond: is il-morph serve still running?");
  }
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function askJson(path, question) {
  return ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
}

function model() {
  return models[byId("model").selectedIndex] || models[0];
}

function say(id, ...children) {
  byId(id).replaceChildren(...children);
}

function failed(id, error) {
  say(`${id}-status`, element("p", { class: "bad", role: "alert" }, error.message));
  say(`${id}-result`);
}

function remarkElements(remarks) {
  return remarks.map((remark) => element("p", { class: "remark" }, remark));
}

// Tabs

const tabs = ["word", "paradigm", "text", "file"];

function openTab(name, focus) {
  for (const each of tabs) {
    const tab = byId(`tab-${each}`);
    tab.setAttribute("aria-selected", String(each === name));
    tab.tabIndex = each === name ? 0 : -1;
    byId(`panel-${each}`).hidden = each !== name;
  }
  if (focus) byId(`tab-${name}`).focus();
  if (name === "paradigm" && !byId("lemma").value && byId("word").value) {
    byId("lemma").value = byId("word").value;
    showParadigm();
  }
}

function tabKey(event) {
  const there = tabs.filter((each) => !byId(`tab-${each}`).hidden);
  const current = there.findIndex((each) => byId(`tab-${each}`).getAttribute("aria-selected") === "true");
  const moves = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: 0, End: there.length - 1 };
  if (!(event.key in moves)) return;
  event.preventDefault();
  openTab(there[(moves[event.key] + there.length) % there.length], true);
}

// Features: completed from those seen in training

function parts(text) {
  return text === "" ? [] : text.split(model().separator);
}

function completions(text) {
  const { bundles, pos, features, separator } = model();
  const starting = bundles.map(([tag]) => tag).filter((tag) => tag.startsWith(text));
  const given = parts(text);
  const begun = given.pop() || "";
  const singles = (given.length || !pos.length ? features : pos).filter((each) => each.startsWith(begun) && !given.includes(each));
  return [...new Set([...starting, ...singles.map((each) => [...given, each].join(separator))])].slice(0, 100);
}

function complete() {
  if (model().separator === null) return;
  byId("feature-list").replaceChildren(...completions(byId("features").value).map((each) => element("option", { value: each })));
  const given = parts(byId("features").value);
  for (const button of byId("toggles").children) button.setAttribute("aria-pressed", String(given.includes(button.value)));
}

function toggle(feature, isPos) {
  const { pos, separator } = model();
  let given = parts(byId("features").value).filter((each) => each !== "");
  if (given.includes(feature)) given = given.filter((each) => each !== feature);
  else if (isPos) given = [feature, ...given.filter((each) => !pos.includes(each))];
  else given.push(feature);
  byId("features").value = given.join(separator);
  complete();
  showWord();
}

function featureButton(feature, isPos) {
  return element("button", { type: "button", class: "toggle", value: feature, "aria-pressed": "false", onclick: () => toggle(feature, isPos) }, feature || "(empty)");
}

function chooseModel() {
  const { separator, pos, features, bundles, columns, text } = model();
  byId("tab-text").hidden = !text;
  if (!text && !byId("panel-text").hidden) openTab("word");
  for (const each of document.querySelectorAll(".with-features")) each.classList.toggle("hidden", separator === null);
  byId("toggles").replaceChildren(...pos.map((each) => featureButton(each, true)), ...features.map((each) => featureButton(each, false)));
  const kinds = [...new Set(bundles.map(([tag]) => parts(tag)[0]))].sort();
  byId("pos").replaceChildren(element("option", { value: "" }, "all"), ...kinds.map((each) => element("option", { value: each }, each)));
  byId("columns").textContent = `The model was trained on: ${columns}. The output may be missing; if it is there, the accuracy is shown.`;
  if (!byId("features").value && bundles.length) byId("features").value = bundles[0][0];
  complete();
  if (byId("word").value) showWord();
}

// The question stands in the address, so that it can be kept and passed on

const FIELDS = ["word", "features", "gold"];

function remember() {
  const said = FIELDS.filter((name) => byId(name).value).map((name) => [name, byId(name).value]);
  if (models.length > 1) said.unshift(["model", model().name]);
  history.replaceState(null, "", `#${new URLSearchParams(said)}`);
}

function recall() {
  const said = new URLSearchParams(location.hash.slice(1));
  const chosen = models.findIndex(({ name }) => name === said.get("model"));
  if (chosen > 0) byId("model").selectedIndex = chosen;
  for (const name of FIELDS) if (said.has(name)) byId(name).value = said.get(name);
}

// One word

let lastWord = 0;

async function showWord() {
  const number = ++lastWord;
  const question = {
    model: model().name, input: byId("word").value, features: model().separator === null ? "" : byId("features").value,
    gold: byId("gold").value, n: Number(byId("number").value),
  };
  remember();
  if (!question.input) {
    say("word-status");
    say("word-result", element("p", { class: "empty" }, "Type a word to see what the model makes of it, edit by edit."));
    return;
  }
  try {
    const answer = await askJson("/api/predict", question);
    if (number === lastWord) showAnswers(answer);
  } catch (error) {
    if (number === lastWord) failed("word", error);
  }
}

function showAnswers({ answers, remarks, milliseconds }) {
  say("word-status", ...remarkElements(remarks), element("p", { class: "visually-hidden" }, `Best: ${answers[0].output}, ${percent(answers[0].probability)}`));
  const steps = element("div", { class: "card", id: "steps" });
  const buttons = answers.map((answer, rank) => element("button", { type: "button", class: "answer", "aria-pressed": "false", onclick: () => choose(rank) },
    element("span", { class: "rank" }, `${rank + 1}`), formElement(answer.output), element("span", { class: "good" }, answer.right ? "right" : ""),
    bar(answer.probability), element("span", { class: "figure" }, percent(answer.probability))));
  const choose = (rank) => {
    buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(index === rank)));
    const verdict = answers[rank].right === false
      ? element("p", { class: "bad" }, answers[rank].first_wrong ? `The first wrong step is ${answers[rank].first_wrong}.` : "The sequence was cut.") : null;
    steps.replaceChildren(...[element("h2", {}, "How ", formElement(answers[rank].input), " becomes ", formElement(answers[rank].output)), verdict,
      new TraceViewer(answers[rank]).root].filter(Boolean));
  };
  say("word-result", element("div", { class: "answers", role: "group", "aria-label": "Best outputs" }, ...buttons), steps,
    element("p", { class: "muted" }, `Computed in ${milliseconds.toFixed(0)} ms`));
  choose(0);
}

// A paradigm

async function showParadigm() {
  const question = { model: model().name, input: byId("lemma").value, pos: byId("pos").value };
  if (!question.input) {
    say("paradigm-status");
    say("paradigm-result", element("p", { class: "empty" }, "Type a lemma to see its form for each feature bundle of the training data."));
    return;
  }
  try {
    const { forms } = await askJson("/api/paradigm", question);
    say("paradigm-status", element("p", { class: "muted" }, `${forms.length} form${forms.length === 1 ? "" : "s"}`));
    say("paradigm-result", ...paradigmElements(question.input, forms));
  } catch (error) {
    failed("paradigm", error);
  }
}

function paradigmElements(lemma, forms) {
  const copied = element("span", { role: "status", class: "muted" });
  const copy = element("button", { type: "button", class: "plain", onclick: async () => {
    try { // a browser may not let a page do that
      await navigator.clipboard.writeText(forms.map((form) => `${form.features}\t${form.output}\n`).join(""));
      copied.textContent = "Copied.";
    } catch (refusal) {
      copied.textContent = "The browser does not allow copying here: use CSV.";
    }
  } }, "Copy");
  const csv = element("button", { type: "button", class: "plain", onclick: () => download(`${lemma}.csv`, "text/csv", paradigmCsv(lemma, forms)) }, "CSV");
  const rows = forms.map((form) => element("tr", {}, element("th", { scope: "row" }, form.features), element("td", {}, formElement(form.output)),
    element("td", { class: "figure" }, bar(form.probability), " ", percent(form.probability)), element("td", { class: "figure" }, String(form.count))));
  return [element("p", { class: "fields" }, copy, csv, copied), table("Paradigm", ["Features", "Form", "Probability", "In training"], rows, [2, 3])];
}

function table(label, titles, rows, figures = []) {
  const head = element("tr", {}, ...titles.map((title, index) => element("th", { scope: "col", class: figures.includes(index) ? "figure" : null }, title)));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
}

function paradigmCsv(lemma, forms) {
  const rows = [["lemma", "features", "form", "probability"], ...forms.map((form) => [lemma, form.features, form.output, form.probability.toFixed(6)])];
  return rows.map((row) => row.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",") + "\r\n").join("");
}

function download(name, kind, text) {
  const address = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// A file

async function showFile() {
  await predictFile("file", byId("file").files[0]);
}

async function predictFile(panel, file) {
  if (!file) {
    failed(panel, new Error("Choose a file first."));
    return;
  }
  if (file.size > LARGEST_FILE) {
    failed(panel, new Error("The file is larger than 5 MB: use il-morph predict."));
    return;
  }
  say(`${panel}-status`, element("p", { class: "muted" }, "Predicting …"));
  try {
    const query = new URLSearchParams({ model: model().name, name: file.name });
    const answer = await ask(`/api/file?${query}`, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file });
    showPredictions(panel, file.name, answer);
  } catch (error) {
    failed(panel, error);
  }
}

function showPredictions(panel, name, { predictions, lines, read, accuracy, remarks, preview, conllu }) {
  const unit = conllu ? "word" : "line";
  const right = accuracy === null ? "" : `, ${accuracy.toFixed(1)} % right`;
  say(`${panel}-status`, element("p", {}, `${lines} ${unit}${lines === 1 ? "" : "s"}${right}`), element("p", { class: "muted" }, `Read as: ${read}`), ...remarkElements(remarks));
  const button = element("button", { type: "button", class: "main", onclick: () => download(conllu ? lemmasName(name) : `${name}.predictions`, "text/tab-separated-values", predictions) }, "Download predictions");
  const rows = preview.map(([input, tag, output, gold]) => element("tr", {}, element("th", { scope: "row" }, formElement(input)), element("td", {}, tag),
    element("td", { class: gold !== null && gold !== output ? "bad" : null }, formElement(output)),
    accuracy === null ? null : element("td", {}, gold === null ? "" : formElement(gold))));
  const titles = ["Input", "Features", "Prediction", ...(accuracy === null ? [] : ["Given output"])];
  const more = lines > preview.length ? element("p", { class: "muted" }, `The first ${preview.length} of ${lines} ${unit}s`) : null;
  say(`${panel}-result`, ...[element("p", {}, button), table("Predictions", titles, rows), more].filter(Boolean));
}

function lemmasName(name) {
  return `${name.replace(/\.conllu$/, "")}.lemmas.conllu`;
}

// A sentence, or a treebank

async function showText() {
  const [file] = byId("treebank").files;
  if (file) await predictFile("text", file);
  else await askSentence(byId("text").value, null);
}

async function askSentence(text, features) {
  say("text-status", element("p", { class: "muted" }, "Lemmatizing …"));
  try {
    const answer = await askJson("/api/sentence", { model: model().name, text, features });
    if (answer.words) showSentence(text, answer);
    else showPredictions("text", "text", answer);
  } catch (error) {
    failed("text", error);
  }
}

const SOURCES = { given: null, training: "as usual in training", unknown: "not in training: type them" };

function showSentence(text, { words, conllu }) {
  const tagged = model().separator !== null;
  const fields = words.map(({ form, features }) => element("input", {
    value: features, list: "all-features", "aria-label": `Features of ${form}`, spellcheck: "false", maxlength: "1000",
    onchange: () => askSentence(text, words.map((word, index) => word.source === "given" || fields[index].value !== word.features ? fields[index].value : null)),
  }));
  const rows = words.map(({ form, source, known, lemmas }, index) => element("tr", {}, element("th", { scope: "row" }, formElement(form)),
    tagged ? element("td", {}, fields[index], SOURCES[source] ? element("div", { class: "muted" }, SOURCES[source]) : null) : null,
    element("td", {}, formElement(lemmas[0][0])), element("td", { class: "figure" }, known ? "in training" : percent(lemmas[0][1])),
    element("td", {}, ...(known ? [] : lemmas.slice(1).map(([lemma, probability]) => element("div", {}, formElement(lemma), " ", percent(probability)))))));
  const button = element("button", { type: "button", class: "main", onclick: () => download("sentence.lemmas.conllu", "text/tab-separated-values", conllu) }, "Download CoNLL-U");
  const unsure = words.filter(({ source }) => source === "unknown").length;
  say("text-status", element("p", {}, `${words.length} word${words.length === 1 ? "" : "s"}`),
    ...remarkElements(tagged && unsure ? [`Training did not show ${unsure} of the words, so their features are missing and their lemmas are guesses.`] : []));
  say("text-result", element("p", {}, button), table("Lemmas", ["Word", ...(tagged ? ["Features"] : []), "Lemma", "Probability", "Other lemmas"], rows, [tagged ? 3 : 2]),
    element("datalist", { id: "all-features" }, ...model().bundles.map(([tag]) => element("option", { value: tag }))));
}

// The start

let waiting = null;

function soon(show) {
  clearTimeout(waiting);
  waiting = setTimeout(show, 150);
}

async function start() {
  for (const each of tabs) {
    byId(`tab-${each}`).addEventListener("click", () => openTab(each));
    byId(`tab-${each}`).addEventListener("keydown", tabKey);
  }
  for (const [name, show] of [["word", showWord], ["paradigm", showParadigm], ["text", showText], ["file", showFile]]) {
    byId(`${name}-form`).addEventListener("submit", (event) => { event.preventDefault(); show(); });
  }
  byId("word-form").addEventListener("input", () => { complete(); soon(showWord); });
  byId("paradigm-form").addEventListener("input", () => soon(showParadigm));
  byId("text").addEventListener("input", () => { byId("treebank").value = ""; });
  byId("model").addEventListener("change", chooseModel);
  try {
    ({ models } = await ask("/api/models"));
  } catch (error) {
    failed("word", error);
    return;
  }
  byId("model").replaceChildren(...models.map(({ name }) => element("option", {}, name)));
  byId("model-field").hidden = models.length < 2;
  recall();
  chooseModel();
}

start();
