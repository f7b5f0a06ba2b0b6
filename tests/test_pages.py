"""The pages in a real browser: they show what they should, to everybody, and nothing in the data becomes markup."""
import http.client
import subprocess
import sys
from pathlib import Path

import pytest

from il_morph.commands import main
from il_morph.data.formats import SIGMORPHON2017
from il_morph.model.predictor import Predictor
from il_morph.report.answers import Answers
from il_morph.report.characters import shown_form
from tests.browser import DESKTOP, PHONE, browser, complaints, look, needs_browser
from tests.cli import ROOT
from tests.made_runs import EVIL, WORDS, made_run, write_data
from tests.random_models import random_model
from tests.test_check import ODD
from tests.test_serve import CONLLU, TREEBANK, serving
from tests.waiting import wait_until

pytestmark = [pytest.mark.slow, needs_browser]
pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pytest.importorskip("selenium")

MODEL = Predictor(random_model(2, scale=0.5, samples=WORDS))
PLAIN = Predictor(random_model(2, format="no-features", pos_emb=False))

LOW_CONTRAST = """
const luminance = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
const background = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const c = numbers(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] === 1) return c;
  }
  return [255, 255, 255];
};
const low = [];
for (const e of document.querySelectorAll("body *")) {
  const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
  if (!text || !e.checkVisibility() || e.closest(".visually-hidden, :disabled, noscript")) continue;
  const [one, other] = [numbers(getComputedStyle(e).color), background(e)].map(luminance).sort((a, b) => b - a);
  if ((one + 0.05) / (other + 0.05) < 4.5) low.push(`${e.tagName}.${e.className}: ${text}`);
}
return low;
"""
UNNAMED = """
return [...document.querySelectorAll("button, input, select, a, [role=region], img")].filter((e) => e.checkVisibility()
  && !(e.getAttribute("aria-label") || e.alt || e.textContent.trim() || (e.labels && e.labels.length)))
  .map((e) => e.outerHTML);
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def shared_driver(folder):
    (folder / "downloads").mkdir()
    with browser(folder / "profile", folder / "downloads") as driver:
        yield driver


@pytest.fixture
def driver(shared_driver):
    """The browser; at the end of each test it must not have complained about anything."""
    look(shared_driver, DESKTOP)
    complaints(shared_driver)
    yield shared_driver
    assert complaints(shared_driver) == []


@pytest.fixture(scope="module")
def server():
    with serving(Answers({"words": MODEL, "plain": PLAIN})) as running:
        yield running


@pytest.fixture(scope="module")
def pages(folder) -> dict[str, str]:
    """The addresses of the pages that are files."""
    runs = [made_run(folder / "runs", f"{EVIL.replace('/', '')}{seed}", seed) for seed in (1, 2)]
    data = [f"--{part}={folder / 'runs' / part}" for part in ("train", "dev", "test")]
    made = {
        "explanation": ["explain", runs[0], EVIL, f"N;{EVIL}", f"--gold={EVIL}s", "--html"],
        "hebrew": ["explain", runs[0], "כָּתַב", "V;PST;3", "--gold=כָּתְבָה", "--html"],
        "report": ["report", *data, runs[0]], "seeds": ["report", *data, *runs],
        "table": ["table", "all", "experiments", "--format=html"],
        "check": ["check", "--format=html", folder / "odd.tsv", folder / "odd-dev.tsv"],
    }
    (folder / "odd.tsv").write_text(ODD + f"{EVIL}\tx\tN;PL\n" * 2, encoding="utf-8")
    (folder / "odd-dev.tsv").write_text("kitap\tkitabı\tN;ACC;SG\nev\tevi\tN;ACC;SG\n", encoding="utf-8")
    for name, arguments in made.items():
        assert main([*map(str, arguments), f"--output={folder / name}.html"]) == 0
    return {name: (folder / f"{name}.html").as_uri() for name in made}


def css(driver, selector):
    return driver.find_elements("css selector", selector)


def one(driver, selector):
    found = css(driver, selector)
    assert found, f"there is no {selector}"
    return found[0]


def texts(driver, selector):
    return driver.execute_script("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
                                 selector)


def check_for_everybody(driver, folder, name):
    """Two widths, light and dark: nothing sticks out, everything can be read, every control has a name."""
    for size in (DESKTOP, PHONE):
        for scheme in ("light", "dark"):
            look(driver, size, scheme)
            assert driver.execute_script("return document.documentElement.scrollWidth") <= size[0], (name, size)
            assert driver.execute_script(LOW_CONTRAST) == [], (name, scheme)
            picture = folder / f"{name}-{size[0]}-{scheme}.png"
            assert driver.save_screenshot(str(picture)) and picture.stat().st_size > 5000
    assert driver.execute_script(UNNAMED) == []
    look(driver, DESKTOP)


def check_no_markup(driver):
    assert driver.execute_script("return [...document.images].filter((i) => !i.src.startsWith('data:')).length") == 0
    from selenium.common.exceptions import NoAlertPresentException

    with pytest.raises(NoAlertPresentException):
        _ = driver.switch_to.alert.text


@pytest.mark.parametrize("name", ["explanation", "hebrew", "report", "seeds", "table", "check"])
def test_pages_can_be_read_by_everybody(driver, pages, folder, name):
    driver.get(pages[name])
    for button in css(driver, "#error-table td button")[:7]:
        driver.execute_script("arguments[0].click()", button)
    for summary in css(driver, "summary"):
        driver.execute_script("arguments[0].click()", summary)
    check_for_everybody(driver, folder, name)
    check_no_markup(driver)


def test_the_check_of_data_lists_what_was_found_with_its_lines(driver, pages):
    driver.get(pages["check"])
    rows = [[cell.text for cell in row.find_elements("css selector", "th, td")] for row in css(driver, "tbody tr")]
    assert ["contradictions", "2", "kitap + N;ACC;SG → kitabı or kitapı", "lines 1, 3"] in rows
    assert {row[0] for row in rows} >= {"duplicates", "features in another case", "mixed scripts", "shared lines"}
    assert [name.rsplit("/", 1)[-1] for name in texts(driver, "h2")] == ["odd.tsv", "odd-dev.tsv"]


# The report

def test_errors_are_filtered_and_sorted(driver, pages):
    driver.get(pages["report"])
    rows = "#error-table tbody tr"
    number = len(css(driver, rows))
    assert number >= 4 and one(driver, "#count").text == f"{number} of {number} errors"
    one(driver, "#text").send_keys("WALK")
    assert texts(driver, f"{rows} td:nth-child(3)") == ["walk"]
    one(driver, "#text").send_keys("zzz")
    assert texts(driver, rows) == [] and one(driver, "#count").text == "No errors match."
    one(driver, "button[type=reset]").click()
    wait_until(lambda: len(css(driver, rows)) == number)
    one(driver, "#error-table th:nth-child(5) button").click()
    golds = texts(driver, f"{rows} td:nth-child(5)")
    assert golds == sorted(golds)
    assert one(driver, "#error-table th:nth-child(5)").get_attribute("aria-sort") == "ascending"
    one(driver, "#error-table th:nth-child(5) button").click()
    assert texts(driver, f"{rows} td:nth-child(5)") == golds[::-1]
    driver.execute_script("arguments[0].value = '=N'; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
                          one(driver, "#pos"))
    assert all(tag.startswith("N;") for tag in texts(driver, f"{rows} td:nth-child(4)"))
    assert EVIL in texts(driver, f"{rows} td:nth-child(3)"), "what looks like markup is shown as it is"


def test_a_confusion_shows_the_errors_it_stands_for(driver, pages):
    driver.get(pages["report"])
    button = one(driver, "button.confusion")
    label, count = button.get_attribute("data-confusion"), int(one(driver, "button.confusion .count").text)
    driver.execute_script("arguments[0].click()", button)
    shown = texts(driver, "#error-table tbody td:last-child")
    assert len(shown) == count and set(shown) == {label}


def test_the_steps_of_an_error_can_be_walked_through(driver, pages):
    driver.get(pages["report"])
    one(driver, "#error-table td button").click()
    assert one(driver, "#error-table td button").get_attribute("aria-expanded") == "true"
    chips = css(driver, ".trace .chips button")
    first = next(n for n, chip in enumerate(chips) if chip.get_attribute("aria-current"))
    assert "wrong" in chips[first].get_attribute("class") or "detour" in chips[first].get_attribute("class")
    assert "The expert would" in one(driver, ".panel").text
    chips[first].send_keys("\ue011")  # Home
    assert one(driver, ".panel .where").text.startswith(f"Step 1 of {len(chips)}")
    assert driver.switch_to.active_element == chips[0]
    chips[0].send_keys("\ue014")  # right arrow
    assert one(driver, ".panel .where").text.startswith("Step 2 of")
    buttons = css(driver, ".stepper > button")
    buttons[0].click()
    assert one(driver, ".panel .where").text.startswith("Step 1 of") and not buttons[0].is_enabled()
    one(driver, "#error-table td button").click()
    assert css(driver, ".trace") == []


def test_runs_side_by_side_show_the_steps_of_each(driver, pages):
    driver.get(pages["seeds"])
    for number, row in enumerate(texts(driver, "#error-table tbody tr td:nth-child(7)")):
        if row == "2 of 2":
            driver.execute_script("arguments[0].click()", css(driver, "#error-table tbody tr td button")[number])
            break
    assert len(css(driver, ".steps .card")) == 2
    assert [title.startswith("<img") for title in texts(driver, ".steps h4")] == [True, True]
    driver.execute_script("arguments[0].value = 'all'; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
                          one(driver, "#run"))
    assert set(texts(driver, "#error-table tbody tr td:nth-child(7)")) == {"2 of 2"}


def test_scripts_that_run_from_right_to_left_are_shown_so(driver, pages, server):
    driver.get(pages["hebrew"])
    assert one(driver, ".chips").get_attribute("dir") == "rtl"
    places = driver.execute_script("return [...document.querySelectorAll('.chips .chip')].slice(0, 2)"
                                   ".map((chip) => chip.getBoundingClientRect().left)")
    assert places[0] > places[1]
    driver.get(server.address)
    type_into(driver, "#word", "כָּתַב")
    wait_until(lambda: texts(driver, ".tape bdi") == ["כ", "◌\u05b8", "◌\u05bc", "ת", "◌\u05b7", "ב", "END"])
    places = driver.execute_script("return [...document.querySelectorAll('.tape bdi')]"
                                   ".map((cell) => cell.getBoundingClientRect().left)")
    assert places == sorted(places, reverse=True), "the tape runs from right to left"


# The served page

def type_into(driver, selector, text):
    field = one(driver, selector)
    field.clear()
    field.send_keys(text)


def answers(driver):
    return texts(driver, ".answer .form")


def expected(word, tag, number=4):
    sample = next(s for s in WORDS if (s.input, s.tag) == (word, tag))
    return [shown_form(found.output) for found in MODEL.hypotheses([sample], max(4, number))[0][:number]]


@pytest.mark.parametrize("word, tag", [(s.input, s.tag) for s in WORDS])
def test_a_word_is_typed_and_its_best_outputs_are_shown(driver, server, word, tag):
    driver.get(server.address)
    wait_until(lambda: one(driver, "#features").get_attribute("value"))
    type_into(driver, "#features", tag)
    type_into(driver, "#word", word)
    wait_until(lambda: answers(driver) == expected(word, tag))
    assert one(driver, ".answer").get_attribute("aria-pressed") == "true"
    css(driver, ".answer")[1].click()
    assert texts(driver, "#steps h2 .form") == [shown_form(word), expected(word, tag)[1]]
    check_no_markup(driver)


def test_the_page_can_be_used_by_everybody(driver, server, folder):
    driver.get(server.address)
    check_for_everybody(driver, folder, "empty")
    type_into(driver, "#word", EVIL)
    type_into(driver, "#features", f"V;{EVIL}")
    type_into(driver, "#gold", EVIL)
    one(driver, "#seen summary").click()
    wait_until(lambda: answers(driver) and "Training did not show" not in one(driver, "#word-status").text)
    check_for_everybody(driver, folder, "word")
    assert EVIL in texts(driver, "#toggles button")
    type_into(driver, "#word", "x" * 120)
    wait_until(lambda: texts(driver, "#steps h2 .form")[:1] == ["x" * 120])
    check_for_everybody(driver, folder, "long")
    one(driver, "#tab-paradigm").click()
    wait_until(lambda: css(driver, "#paradigm-result td"))
    check_for_everybody(driver, folder, "paradigm")
    check_no_markup(driver)


def test_features_are_completed_and_toggled(driver, server):
    driver.get(server.address)
    wait_until(lambda: one(driver, "#features").get_attribute("value") == "N;PL")
    type_into(driver, "#features", "V;P")
    options = driver.execute_script("return [...document.querySelectorAll('#feature-list option')].map((o) => o.value)")
    assert options[0] == "V;PST" and set(options) == {"V;PST", "V;PRS;3", "V;PST;3", "V;PRS", "V;PL"}
    type_into(driver, "#features", "V;PST")
    one(driver, "#seen summary").click()
    buttons = {button.text: button for button in css(driver, "#toggles button")}
    assert [name for name, button in buttons.items() if button.get_attribute("aria-pressed") == "true"] == ["V", "PST"]
    buttons["3"].click()
    assert one(driver, "#features").get_attribute("value") == "V;PST;3"
    buttons["N"].click()
    buttons["PST"].click()
    assert one(driver, "#features").get_attribute("value") == "N;3"


def test_the_right_form_shows_where_the_model_goes_wrong(driver, server):
    driver.get(server.address)
    type_into(driver, "#features", "V;PST")
    type_into(driver, "#word", "walk")
    type_into(driver, "#gold", "walked")
    wait_until(lambda: css(driver, "#steps .bad"))
    assert one(driver, "#steps .bad").text.startswith("The first wrong step is ")
    assert "The expert would" in one(driver, ".panel").text


def test_a_question_can_be_kept_as_an_address(driver, server):
    driver.get(server.address)
    type_into(driver, "#features", "V;PST")
    type_into(driver, "#word", "walk")
    wait_until(lambda: answers(driver) == expected("walk", "V;PST"))
    address = driver.current_url
    assert address.endswith("#model=words&word=walk&features=V%3BPST")
    driver.get("about:blank")
    driver.get(address)
    wait_until(lambda: answers(driver) == expected("walk", "V;PST"))
    driver.get("about:blank")
    driver.get(f"{server.address}#model=none&word={EVIL}&gold={EVIL}&features={EVIL}")
    wait_until(lambda: answers(driver))
    assert one(driver, "#word").get_attribute("value") == EVIL
    check_no_markup(driver)


def test_a_sentence_is_lemmatized_and_its_features_are_changed(driver, folder):
    with serving(Answers({"tr": TREEBANK, "words": MODEL})) as server:
        driver.get(server.address)
        wait_until(lambda: one(driver, "#tab-text").is_displayed())
        one(driver, "#tab-text").click()
        type_into(driver, "#text", f"Gitti evde {EVIL.split()[0]} yok .")
        one(driver, "#text-form button").click()
        column = "#text-result td:nth-of-type(2)"
        wait_until(lambda: texts(driver, column)[:2] == ["git", "ev"])
        assert "their features are missing" in one(driver, "#text-status").text
        check_for_everybody(driver, folder, "text")
        check_no_markup(driver)
        field = css(driver, "#text-result td input")[1]
        field.send_keys("\ue009a")  # Control and a: emptying it would be a change of its own
        field.send_keys("ADV\n")
        wait_until(lambda: texts(driver, column)[:2] == ["git", "evde"])
        assert one(driver, "#all-features option").get_attribute("value") == "ADV"
        one(driver, "#tab-text").send_keys("\ue014")  # right arrow
        assert one(driver, "#panel-file").is_displayed()
        driver.switch_to.active_element.send_keys("\ue012")  # left arrow
        assert one(driver, "#panel-text").is_displayed()
        driver.execute_script("const m = arguments[0]; m.selectedIndex = 1; m.dispatchEvent(new Event('change'))",
                              one(driver, "#model"))
        assert not one(driver, "#tab-text").is_displayed() and one(driver, "#panel-word").is_displayed()


def test_a_treebank_is_lemmatized_and_saved(driver, folder):
    (folder / "a.conllu").write_bytes(CONLLU.encode())
    with serving(Answers({"tr": TREEBANK})) as server:
        driver.get(server.address)
        wait_until(lambda: one(driver, "#tab-text").is_displayed())
        one(driver, "#tab-text").click()
        one(driver, "#treebank").send_keys(str(folder / "a.conllu"))
        one(driver, "#text-form button").click()
        wait_until(lambda: one(driver, "#text-status").text.startswith("2 words, 100.0 % right"))
        wait_until(lambda: css(driver, "#text-result button"))
        check_for_everybody(driver, folder, "treebank")
        one(driver, "#text-result button").click()
        saved = folder / "downloads" / "a.lemmas.conllu"
        predicted = Answers({"tr": TREEBANK}).file({}, CONLLU.encode())["predictions"].encode()
        wait_until(lambda: saved.exists() and saved.read_bytes() == predicted)


def test_tabs_work_by_keyboard(driver, server):
    driver.get(server.address)
    one(driver, "#tab-word").send_keys("\ue014")
    assert one(driver, "#panel-paradigm").is_displayed() and not one(driver, "#panel-word").is_displayed()
    assert driver.switch_to.active_element.get_attribute("id") == "tab-paradigm"
    driver.switch_to.active_element.send_keys("\ue010")  # End
    assert one(driver, "#panel-file").is_displayed()


def test_a_paradigm_is_shown_and_saved(driver, server, folder):
    driver.get(server.address)
    one(driver, "#tab-paradigm").click()
    type_into(driver, "#lemma", EVIL)
    forms = MODEL.paradigm(EVIL)
    wait_until(lambda: texts(driver, "#paradigm-result tbody th") == [form.features for form in forms])
    assert texts(driver, "#paradigm-result td .form") == [shown_form(form.output) for form in forms]
    driver.execute_cdp_cmd("Browser.grantPermissions",
                           {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    css(driver, "#paradigm-result button")[0].click()
    wait_until(lambda: one(driver, "#paradigm-result [role=status]").text == "Copied.")
    copied = driver.execute_async_script(
        "navigator.clipboard.readText().then(arguments[0], (error) => arguments[0](String(error)))")
    assert copied == "".join(f"{form.features}\t{form.output}\n" for form in forms)
    css(driver, "#paradigm-result button")[1].click()
    saved = wait_until(lambda: next((path for path in (folder / "downloads").glob("*.csv")), None))
    rows = wait_until(lambda: saved.read_text(encoding="utf-8").splitlines())
    assert rows[0] == '"lemma","features","form","probability"' and len(rows) == len(forms) + 1
    assert rows[1].startswith(f'"{EVIL}","{forms[0].features}",')
    check_no_markup(driver)


def test_a_model_without_features_has_no_field_for_them(driver, server):
    driver.get(server.address)
    wait_until(lambda: one(driver, "#model").is_displayed())
    driver.execute_script("arguments[0].selectedIndex = 1; arguments[0].dispatchEvent(new Event('change'))",
                          one(driver, "#model"))
    assert not one(driver, "#features").is_displayed()
    type_into(driver, "#word", "walk")
    best = [found.output for found in PLAIN.hypotheses([WORDS[0]])[0]]
    wait_until(lambda: answers(driver) == [shown_form(output) for output in best])
    one(driver, "#tab-paradigm").click()
    wait_until(lambda: "the model has no features" in one(driver, "#paradigm-status").text)
    assert [entry for entry in complaints(driver) if "400" not in entry] == [], "the refusal alone is noted"


def test_a_file_is_sent_and_its_predictions_are_saved(driver, server, folder):
    path = write_data(folder, "words.tsv", WORDS)
    driver.get(server.address)
    one(driver, "#tab-file").click()
    one(driver, "#file").send_keys(path)
    one(driver, "#file-form button").click()
    wait_until(lambda: css(driver, "#file-result td"))
    outputs = [found[0].output for found in MODEL.hypotheses(WORDS)]
    assert texts(driver, "#file-result td:nth-child(3) .form") == [shown_form(output) for output in outputs]
    assert f"{len(WORDS)} lines, " in one(driver, "#file-status").text
    check_for_everybody(driver, folder, "file")
    check_no_markup(driver)
    one(driver, "#file-result button").click()
    saved = wait_until(lambda: next((path for path in (folder / "downloads").glob("words.tsv.predictions")), None))
    lines = [SIGMORPHON2017.line(sample, output) for sample, output in zip(WORDS, outputs)]
    wait_until(lambda: saved.read_text(encoding="utf-8").split("\n")[:-1] == lines)


def test_a_refusal_of_several_lines_keeps_its_lines(driver, server, folder):
    (folder / "turkish.tsv").write_bytes("kuş\tkuşlar\tN;PL\ndağ\tdağlar\tN;PL\n".encode("cp1254"))
    driver.get(server.address)
    one(driver, "#tab-file").click()
    one(driver, "#file").send_keys(str(folder / "turkish.tsv"))
    one(driver, "#file-form button").click()
    wait_until(lambda: "not UTF-8" in one(driver, "#file-status").text)
    lines = one(driver, "#file-status").text.splitlines()
    assert [line.count("iconv") for line in lines] == [0, *[1] * (len(lines) - 2), 0]
    assert all("400" in entry for entry in complaints(driver))


def test_a_spreadsheet_is_sent_and_its_other_columns_are_saved(driver, server, folder):
    pytest.importorskip("openpyxl")
    from tests.test_office import ROWS, xlsx

    (folder / "words.xlsx").write_bytes(xlsx(ROWS))
    driver.get(server.address)
    one(driver, "#tab-file").click()
    one(driver, "#file").send_keys(str(folder / "words.xlsx"))
    one(driver, "#file-form button").click()
    wait_until(lambda: css(driver, "#file-result td"))
    assert "10 lines, " in one(driver, "#file-status").text
    check_for_everybody(driver, folder, "spreadsheet")
    one(driver, "#file-result button").click()
    saved = wait_until(lambda: next((path for path in (folder / "downloads").glob("words.xlsx.predictions")), None))
    wait_until(lambda: [line.split("\t")[-1] for line in saved.read_text("utf-8").splitlines()] == ["Ann"] * 10)


def test_another_site_cannot_ask_through_the_browser(driver, server, folder):
    """A page from elsewhere (here: a file) may not read answers."""
    (folder / "elsewhere.html").write_text("<title>elsewhere</title>")
    driver.get((folder / "elsewhere.html").as_uri())
    outcome = driver.execute_async_script(
        "const done = arguments[1];"
        "fetch(arguments[0] + 'api/models').then((r) => done('read'), () => done('refused'))",
        server.address)
    assert outcome == "refused"
    assert all("CORS" in entry or "403" in entry or "ERR_FAILED" in entry for entry in complaints(driver))
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
    connection.request("GET", "/api/models", headers={"Origin": "null"})
    assert connection.getresponse().status == 403


def test_the_script_of_the_pictures_says_when_there_is_no_browser(folder):
    run = made_run(folder / "pictured")
    script = ROOT / "experiments" / "tools" / "screenshots.py"
    done = subprocess.run([sys.executable, script, "--chromium=no-such-browser", run], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "screenshots.py: error: no-such-browser took no picture" in done.stderr


def test_the_pictures_of_the_texts_are_small():
    pictures = sorted(path.name for path in (ROOT / "docs").glob("*.png"))
    assert pictures == ["page.png", "report.png"]
    assert all((ROOT / "docs" / name).stat().st_size < 150_000 for name in pictures)
