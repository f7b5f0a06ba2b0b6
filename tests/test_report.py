"""`il-morph report` and `il-morph table --format=html`: pages that carry everything they show."""
import json
import re
import shutil
import statistics
from html.parser import HTMLParser

import pytest

from il_morph.commands import main
from il_morph.data.formats import SIGMORPHON2017, Sample
from il_morph.evaluation.edits import edit_steps, edits
from il_morph.evaluation.entries import read_gold, read_predictions
from il_morph.evaluation.scores import evaluate
from il_morph.evaluation.voting import vote
from il_morph.report import runs_page
from il_morph.reproduction.run_list import measured
from il_morph.reproduction.runs import Run
from tests.cli import ROOT, SHORT, SMALL, TRAIN, as_2017, error_of
from tests.made_runs import EVIL, WORDS, made_run

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


class Page(HTMLParser):
    """What a browser would make of a page: its elements, their attributes and their text."""

    def __init__(self, text: str):
        super().__init__()
        self.elements, self.texts, self.stack = [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.stack.append(len(self.elements) - 1)

    def handle_endtag(self, tag):
        while self.stack and self.elements[self.stack.pop()][0] != tag:
            pass

    def handle_data(self, data):
        for element in self.stack:
            self.texts[element] = self.texts.get(element, "") + data

    def all(self, tag):
        """Attributes and text of all elements of a kind."""
        return [(attributes, self.texts.get(number, "")) for number, (name, attributes) in enumerate(self.elements)
                if name == tag]

    @property
    def data(self):
        return next(json.loads(text) for attributes, text in self.all("script") if attributes.get("id") == "data")

    @property
    def rows(self):
        """The cells of all tables, one after the other."""
        cells = [self.texts.get(number, "").strip() for number, (tag, _) in enumerate(self.elements)
                 if tag in ("td", "th")]
        return re.sub(r"\s+", " ", " ".join(cells))


def report(path, *arguments) -> Page:
    assert main(["report", *map(str, arguments), f"--output={path}", "--force"]) == 0
    return Page(path.read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def current_folder(monkeypatch, tmp_path_factory):
    """Recorded data is read below it only."""
    monkeypatch.chdir(tmp_path_factory.getbasetemp())


@pytest.fixture(autouse=True)
def no_curves(monkeypatch):
    """Drawing takes longest."""
    monkeypatch.setattr(runs_page, "learning_curves", lambda runs: b"<svg/>" if any(r.epochs for r in runs) else None)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return made_run(tmp_path_factory.mktemp("made"))


def accuracy(folder, name="beam4.test"):
    gold = read_gold(folder.parent / "test", SIGMORPHON2017)
    return evaluate(gold, read_predictions(folder / f"f.{name}.predictions", SIGMORPHON2017), SIGMORPHON2017).accuracy


def test_a_report_has_every_error_with_its_edits_and_steps(made, tmp_path):
    page = report(tmp_path / "page.html", made)
    outputs = [entry.outputs[0] for entry in read_predictions(made / "f.beam4.test.predictions", SIGMORPHON2017)]
    wrong = [(sample, output) for sample, output in zip(WORDS, outputs) if sample.output != output]
    errors = page.data["errors"]
    assert [(e["input"], e["tag"], e["gold"], e["outputs"]) for e in errors] == [
        (sample.input, sample.tag, sample.output, [output]) for sample, output in wrong] and errors
    for error, (sample, output) in zip(errors, wrong):
        assert "".join(c for kind, c in error["edits"][output] if kind != "insert") == output
        assert "".join(c for kind, c in error["edits"][output] if kind != "delete") == sample.output
        trace, = error["traces"]
        assert (trace["output"], trace["gold"], trace["right"]) == (output, sample.output, False)
        kind, character = trace["steps"][trace["first_wrong"] - 1][1]
        assert error["confusions"][0].startswith(f"{kind} {trace['shown'].get(character, character)}".strip())


def test_the_figures_of_a_report_are_those_of_evaluate(made, tmp_path):
    page = report(tmp_path / "page.html", made)
    text = " ".join(text for _, text in page.all("li"))
    assert f"{accuracy(made):.1f} % accuracy" in re.sub(r"\s+", " ", text)
    greedy = report(tmp_path / "page.html", made, "--search=greedy", "--part=dev")
    assert "4 lines of development data, greedy search" in " ".join(text for _, text in greedy.all("p"))
    assert [title for _, title in page.all("h3")][:5] == [
        "made", "By part of speech", "By what training showed", "By feature", "By characters that training showed"]
    assert "lemma seen, features seen 8" in page.rows and "16 and more 2" in page.rows


def test_a_report_is_one_file_with_a_policy_and_no_markup_from_the_data(made, tmp_path, monkeypatch):
    monkeypatch.undo()  # with curves
    monkeypatch.chdir(made.parent)
    page = report(tmp_path / "page.html", made)
    assert all(attributes["src"].startswith("data:image/svg+xml;base64,") for attributes, _ in page.all("img"))
    assert len(page.all("img")) == 1
    assert not [attributes for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert not [attributes for tag, attributes in page.elements if "style" in attributes]
    policy = next(a["content"] for a, _ in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy and "unsafe" not in policy
    addresses = [a.get("href", "#") for tag, a in page.elements if tag in ("a", "link")]
    assert all(address.startswith("#") or address == "data:," for address in addresses)
    assert EVIL in page.rows and EVIL in [error["input"] for error in page.data["errors"]]


def test_seeds_stand_side_by_side_with_their_spread_and_vote(tmp_path):
    folders = [made_run(tmp_path, f"seed{seed}", seed) for seed in (1, 2, 3)]
    page = report(tmp_path / "page.html", *folders)
    assert page.data["runs"] == ["seed1", "seed2", "seed3"]
    figures = [accuracy(folder) for folder in folders]
    predictions = [read_predictions(folder / "f.beam4.test.predictions", SIGMORPHON2017) for folder in folders]
    voted = [vote([entry.outputs[0] for entry in entries]) for entries in zip(*predictions)]
    right = 100 * statistics.fmean(output == sample.output for output, sample in zip(voted, WORDS))
    tiles = [re.sub(r"\s+", " ", text).strip() for _, text in page.all("li")]
    assert tiles[:2] == [f"{statistics.fmean(figures):.1f} % mean accuracy (sd {statistics.stdev(figures):.2f})",
                         f"{right:.1f} % accuracy of their vote"]
    assert all(len(error["traces"]) == len(error["outputs"]) == 3 for error in page.data["errors"])
    assert "seed differs 1 2 3" in page.rows


def test_a_run_without_errors_says_so(tmp_path):
    folder = made_run(tmp_path)
    shutil.copy(folder.parent / "test", folder / "f.beam4.test.predictions")
    page = report(tmp_path / "page.html", folder)
    assert page.data["errors"] == []
    assert "Every line is right." in [text for _, text in page.all("p")]


def test_a_report_says_what_it_lacks(tmp_path):
    folder = made_run(tmp_path)
    (folder / "f.model").unlink()
    (tmp_path / "train").unlink()
    page = report(tmp_path / "page.html", folder)
    said = " ".join(text for attributes, text in page.all("p") if attributes.get("class") == "remark")
    assert "is gone, so the page does not show its steps" in said and "give --train=FILE" in said
    assert {trace for error in page.data["errors"] for trace in error["traces"]} == {None}
    assert "By feature" in [title for _, title in page.all("h3")]


def test_predictions_of_another_model_have_no_steps(tmp_path):
    folder = made_run(tmp_path)
    text = (folder / "f.beam4.test.predictions").read_text(encoding="utf-8").splitlines()
    text[0] = "walk\tsomething else\tV;PST"
    (folder / "f.beam4.test.predictions").write_text("\n".join(text) + "\n", encoding="utf-8")
    page = report(tmp_path / "page.html", folder)
    assert page.data["errors"][0]["outputs"] == ["something else"] and page.data["errors"][0]["traces"] == [None]
    assert any("errors the model no longer writes the recorded" in text for _, text in page.all("p"))


def test_covered_test_data_gives_a_report_on_the_development_data(tmp_path):
    folder = made_run(tmp_path, covered=True)
    page = report(tmp_path / "page.html", folder)
    assert any("The test data has no outputs" in text for _, text in page.all("p"))
    assert "4 lines of development data" in " ".join(text for _, text in page.all("p"))
    page = report(tmp_path / "page.html", folder, f"--test={tmp_path / 'test'}")
    assert "8 lines of test data" in " ".join(text for _, text in page.all("p"))


def test_a_hard_attention_run_has_a_report_without_an_expert(tmp_path):
    page = report(tmp_path / "page.html", made_run(tmp_path, transducer="hard"))
    assert page.data["errors"] and "(no expert)" in page.rows


def test_a_real_run_has_a_report(trained, tmp_path):
    page = report(tmp_path / "page.html", trained.folder)
    wrong = [row for row, (_, _, gold) in zip(trained.predictions("beam4.test"), [
        ("talk", "V;PRS", "talks"), ("dog", "N;PL", "dogs"), ("bee", "N;PL", "bees")]) if row[1] != gold]
    assert [error["input"] for error in page.data["errors"]] == [row[0] for row in wrong]
    assert all(trace for error in page.data["errors"] for trace in error["traces"])


# What the command of a run says about its data

def recorded(folder, **said):
    """The same run with something else in its f.stats."""
    path = folder / "f.stats"
    stats = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**stats, **said}), encoding="utf-8")
    return folder


def split_run(tmp_path, suffix):
    """A run whose data are parts of a file that the training split, in its folder."""
    folder = made_run(tmp_path)
    for part in ("train", "dev", "test"):
        (tmp_path / part).rename(folder / f"{part}{suffix}")
    return folder


def paragraphs(page):
    return " ".join(text for _, text in page.all("p"))


@pytest.mark.parametrize("flag, tile", [("--boundary= @@", "F1 of segments"),
                                        ("--output-separator= ", "% symbol error rate")])
def test_a_report_has_the_scores_of_symbols(tmp_path, flag, tile):
    (tmp_path / "words").write_text("ab\ta @@b\nba\tb @@a\n" * 5, encoding="utf-8")
    path, results = str(tmp_path / "words"), str(tmp_path / "results")
    assert main(["train", "--engine=native", "--epochs=1", "--beam-widths=0", *SMALL, "--no-feat-format", flag, path,
                 path, results]) == 0
    page = report(tmp_path / "page.html", results, f"--train={path}", f"--dev={path}")
    assert any(text.endswith(tile) for _, text in page.all("li"))


def test_a_report_on_data_without_features_does_not_offer_to_filter_by_them(tmp_path, made):
    def filters(page):
        return [attributes["id"] for tag, attributes in page.elements if tag in ("input", "select")]

    (tmp_path / "words").write_text("ab\ta b\nba\tb a\n" * 5, encoding="utf-8")
    path, results = str(tmp_path / "words"), str(tmp_path / "results")
    assert main(["train", "--engine=native", "--epochs=1", "--beam-widths=0", *SMALL, "--no-feat-format", path, path,
                 results]) == 0
    assert filters(report(tmp_path / "page.html", results, f"--train={path}", f"--dev={path}")) == ["text", "confusion"]
    assert filters(report(tmp_path / "page.html", made)) == ["text", "pos", "confusion"]


def test_a_training_that_split_its_file_has_a_report_on_the_parts(tmp_path):
    (tmp_path / "words.tsv").write_text(as_2017(TRAIN), encoding="utf-8")
    folder = tmp_path / "results"
    assert main(["train", "--engine=native", "--sigm2017format", *SMALL, *SHORT, str(tmp_path / "words.tsv"),
                 str(folder)]) == 0
    (tmp_path / "words.tsv").unlink()
    page = report(tmp_path / "page.html", folder.rename(tmp_path / "moved"))
    lines = len((tmp_path / "moved" / "test.tsv").read_text(encoding="utf-8").splitlines())
    assert f"{lines} lines of test data" in paragraphs(page)
    assert "By what training showed" in [title for _, title in page.all("h3")]


@pytest.mark.parametrize("file, suffix", [("-", ""), ("words", ""), ("gone/words.v1.csv", ".csv")])
def test_the_parts_of_a_file_have_its_suffix(tmp_path, file, suffix):
    folder = recorded(split_run(tmp_path, suffix), command=["il-morph", "train", "--sigm2017format", file, "elsewhere"])
    page = report(tmp_path / "page.html", folder)
    assert "8 lines of test data" in paragraphs(page) and "training data has moved" not in paragraphs(page)


def test_a_test_file_takes_the_place_of_the_third_part(tmp_path):
    folder = split_run(tmp_path, ".tsv")
    (folder / "test.tsv").rename(tmp_path / "own")
    recorded(folder, command=["il-morph", "train", f"--test-path={tmp_path / 'own'}", "words.tsv", "results"])
    page = report(tmp_path / "page.html", folder)
    assert "8 lines of test data" in paragraphs(page) and "training data has moved" not in paragraphs(page)


def test_a_part_that_is_gone_is_named(tmp_path, capsys):
    folder = recorded(split_run(tmp_path, ".tsv"), command=["il-morph", "train", "words.tsv", "results"])
    (folder / "test.tsv").unlink()
    message = error_of(capsys, "report", str(folder), f"--output={tmp_path / 'page.html'}")
    assert message.startswith(f"{folder / 'test.tsv'}, the test data of made, does not exist")
    assert "if it has moved, give --test=FILE" in message


@pytest.mark.parametrize("order", ["--verbose {} {} {} {}", "{} {} {} {} --verbose", "{} --verbose 1 {} {} {}"])
def test_a_recorded_command_is_read_as_train_reads_it(tmp_path, order):
    folder = made_run(tmp_path)
    words = order.format(f"--test-path={tmp_path / 'test'}", tmp_path / "train", tmp_path / "dev", folder).split()
    page = report(tmp_path / "page.html", recorded(folder, command=["il-morph", "train", *words]))
    assert "8 lines of test data" in paragraphs(page) and "training data has moved" not in paragraphs(page)


def test_after_two_hyphens_of_a_recorded_command_nothing_is_a_flag(tmp_path, monkeypatch):
    folder = made_run(tmp_path)
    (tmp_path / "dev").rename(tmp_path / "-hdev")
    monkeypatch.chdir(tmp_path)
    recorded(folder, command=["il-morph", "train", "--", "train", "-hdev", "made"])
    page = report(tmp_path / "page.html", folder)
    assert "4 lines of development data" in paragraphs(page)


# What a page never replaces, and where it goes

def test_a_page_never_takes_the_place_of_what_it_is_about(tmp_path, capsys):
    folder = made_run(tmp_path)
    (folder / "train.log").write_text("what train said")
    (tmp_path / "link").symlink_to(folder / "f.log")
    for name in ("made/f.stats", "made/f.log", "made/f.beam4.test.predictions", "made/f.greedy.dev.eval",
                 "made/train.log", "made/../train", "dev", "test", "link", "made/f.model"):
        path = tmp_path / name
        before = path.read_bytes()
        message = error_of(capsys, "report", str(folder), f"--output={path}", "--force")
        what = "is the model itself" if name == "made/f.model" else "belongs to the run made or its data"
        assert message == f"{path} {what}: choose another name for the output\n" and path.read_bytes() == before


def test_a_page_never_takes_the_place_of_other_runs_and_other_data(tmp_path, capsys):
    one, two = split_run(tmp_path / "one", ".tsv"), split_run(tmp_path / "two", ".tsv")
    recorded(one, command=["il-morph", "train", "words.tsv", "results"])
    words, start = (shutil.copy(one / "train.tsv", tmp_path / name) for name in ("words.tsv", "start.model"))
    recorded(two, command=["il-morph", "train", f"--reload-path={start}", str(words), "results"])
    copy = shutil.copy(one / "train.tsv", tmp_path / "copy")
    for path in (two / "train.tsv", two / "f.stats", two / "f.model", copy, words, start):
        before = path.read_bytes()
        message = error_of(capsys, "report", str(one), str(two), f"--train={copy}", f"--output={path}", "--force")
        assert "choose another name for the output" in message and path.read_bytes() == before
    assert main(["report", str(one), f"--output={one / 'page.html'}"]) == 0


def test_a_page_goes_to_standard_output(made, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = [f"--{part}={made.parent / part}" for part in ("train", "dev", "test")]
    report(tmp_path / "page.html", made, *data)
    capsys.readouterr()
    assert main(["report", str(made), *data, "--output=-"]) == 0
    captured = capsys.readouterr()
    assert captured.out == (tmp_path / "page.html").read_text(encoding="utf-8") and "is written" not in captured.err
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


# Folders that hold no finished run

@pytest.fixture
def seeds(made, tmp_path):
    """A folder as of `il-morph train --seeds`: seed 2 is not finished, 3 is, and their votes lie beside."""
    for seed in ("2", "3"):
        shutil.copytree(made, tmp_path / "seeds" / seed)
    (tmp_path / "seeds" / "2" / "f.stats").unlink()
    shutil.copy(made / "f.beam4.test.predictions", tmp_path / "seeds")
    return tmp_path / "seeds"


@pytest.mark.parametrize("record", ["{}", "7", "null", "[", "[[[["])
def test_a_damaged_record_of_seeds_does_not_keep_a_report_back(seeds, made, tmp_path, record):
    (seeds / "seeds.json").write_text(record)
    (seeds / "f.beam4.test.predictions").unlink()
    data = [f"--{part}={made.parent / part}" for part in ("train", "dev", "test")]
    assert main(["report", *data, str(seeds), f"--output={tmp_path / 'page.html'}"]) == 0


def test_a_report_on_a_folder_of_seeds_shows_those_that_are_finished(seeds, made, tmp_path, caplog):
    data = [f"--{part}={made.parent / part}" for part in ("train", "dev", "test")]
    assert main(["report", *data, str(seeds), f"--output={tmp_path / 'page.html'}"]) == 0
    assert f"{seeds / '2'} is not finished, and left out" in caplog.text
    assert main(["report", *data, str(seeds / "3"), f"--output={tmp_path / 'same.html'}"]) == 0
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "same.html").read_bytes()


def test_a_report_on_folds_needs_test_data(seeds, tmp_path, capsys):
    (seeds / "f.beam4.test.predictions").unlink()
    (seeds / "seeds.json").write_text('{"folds": 2}')
    assert error_of(capsys, "report", str(seeds), f"--output={tmp_path / 'page.html'}") == (
        f"{seeds} holds folds, each with development data of its own, and no test data: give one of them, for example "
        f"{seeds / '3'}, or train with --test-path\n")


@pytest.mark.parametrize("arguments", [
    ["explain", "{}", "walk", "V;PST"], ["serve", "{}"],
    ["train", "--engine=native", "--reload-path={}", "train", "dev", "results"],
    ["train", "--mode=eval", "--engine=native", "--reload-path={}", "train", "dev", "results"]])
def test_one_model_is_asked_for_where_a_folder_of_seeds_has_several(seeds, capsys, arguments):
    assert error_of(capsys, *(argument.format(seeds) for argument in arguments)) == (
        f"{seeds} holds the runs of several seeds, each in a folder of its own: give one of them, for example "
        f"{seeds / '3'}\n")


def test_folders_with_numbers_for_names_are_no_seeds_unless_they_hold_runs(tmp_path, capsys):
    (tmp_path / "1").mkdir()
    assert "holds no finished run" in error_of(capsys, "report", str(tmp_path), f"--output={tmp_path / 'page.html'}")
    assert error_of(capsys, "explain", str(tmp_path), "walk") == (
        f"cannot read {tmp_path / 'f.model'}: No such file or directory\n")


@pytest.mark.parametrize("name, advice", [
    ("f.checkpoint", "start the same `il-morph train` command again: it resumes"),
    ("f.model", "train it again with --force")])
def test_a_report_on_a_run_that_is_not_finished_says_so(tmp_path, capsys, name, advice):
    (tmp_path / name).touch()
    assert error_of(capsys, "report", str(tmp_path), f"--output={tmp_path / 'page.html'}") == (
        f"{tmp_path} holds an unfinished run (there is no f.stats): wait for it or, if it was interrupted, "
        f"{advice}\n")


# Damaged folders

HEADER = "phase\tepoch\tseconds\tloss\ttrain_accuracy\tdev_accuracy\tdev_loss\n"
ROW = "il\t0\t1.5000\t1.0000\t0.0000\t0.0000\tNA\n"


@pytest.fixture
def refusal(made, tmp_path, capsys):
    """What is said of a run in a folder whose files are changed, after its path."""
    def said(change, *flags):
        folder = shutil.copytree(made, tmp_path / "copy", dirs_exist_ok=True)
        change(folder)
        message = error_of(capsys, "report", str(folder), f"--output={tmp_path / 'page.html'}", *flags)
        assert not (tmp_path / "page.html").exists() and message.startswith(f"{folder}/")
        return message[len(f"{folder}/"):]
    return said


@pytest.mark.parametrize("content, where, what", [
    (HEADER + ROW + "il\t1\t1.5\n", "line 3", "it has 3 of 7 columns"),
    (HEADER + ROW + ROW[:-3], "line 3", "dev_loss is '', not a number"),
    (HEADER + ROW.replace("1.0000", "x<y"), "line 2", "loss is 'x<y', not a number"),
    (HEADER + "\n" + ROW, "line 2", "it has 1 of 7 columns"),
    ("", "line 1", "there is no column phase"),
    ("junk\n", "line 1", "there is no column phase"),
    (HEADER.replace("\tloss", "\tlost") + ROW, "line 1", "there is no column loss"),
    (HEADER.encode() + ROW.encode() + b"\xff\xfe\n", "line 3", "it is not UTF-8"),
])
def test_a_damaged_log_is_named_with_its_line(refusal, content, where, what):
    content = content if isinstance(content, bytes) else content.encode()
    message = refusal(lambda folder: (folder / "f.log").write_bytes(content))
    assert message == (f"f.log, {where} is not what `il-morph train` writes ({what}): run it again, or delete the file "
                       "to get a page without a learning curve\n")


def test_without_a_log_there_is_a_page_without_learning_curve(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "copy")
    (folder / "f.log").unlink()
    page = report(tmp_path / "page.html", folder)
    assert "This run has no log: nothing was trained, or the log is gone." in paragraphs(page) and page.all("img") == []


def test_a_log_of_a_training_that_diverged_is_drawn(made, tmp_path):
    folder = shutil.copytree(made, tmp_path / "copy")
    (folder / "f.log").write_text(HEADER + "".join(ROW.replace("1.0000", loss) for loss in (
        "1e308", "-1e308", "nan", "inf")))
    assert "il 0 1.5000 inf" in report(tmp_path / "page.html", folder).rows


@pytest.mark.parametrize("said, what", [
    ({"command": None}, '"command" is not a list of words'), ({"command": [1, 2]}, '"command" is not a list of words'),
    ({"command": 5}, '"command" is not a list of words'), ({"command": "il-morph"}, '"command" is not a list of words'),
    ({"training": None}, '"training" is not a JSON object'), ({"training": [1]}, '"training" is not a JSON object'),
    ({"training": {"seconds": "5"}}, '"seconds" is \'5\', which is impossible'),
    ({"training": {"seconds": 10 ** 400}}, '"seconds" is'), ({"training": {"epochs": []}}, '"epochs" is'),
    ({"training": {"best_epoch": None}}, '"best_epoch" is'), ({"seed": {"a": 1}}, '"seed" is'),
    ({"settings": None}, '"settings" is not a JSON object'), ({"settings": {}}, "there is no data format"),
    ({"settings": {"format": ["input", "output"]}}, "there is no data format"),
    ({"settings": {"format": "sigmorphon2017", "unicode": "foo"}}, '"unicode" is not one of as-is, nfc, nfd'),
    ({"settings": {"format": "sigmorphon2017", "unicode": ["nfc"]}}, '"unicode" is not one of as-is, nfc, nfd'),
])
def test_damaged_stats_are_named_with_what_is_wrong(refusal, said, what):
    message = refusal(lambda folder: recorded(folder, **said))
    assert message.startswith("f.stats is not what `il-morph train` writes (") and what in message
    assert message.endswith("): delete the file and run it again\n")


@pytest.mark.parametrize("content, start", [
    (b"", "f.stats, line 1 is not"), (b'{\n"seed": 1,\n"comm', "f.stats, line 3 is not"), (b"[" * 100_000, "f.stats"),
    (b'{\n"seed": "\xff"}', "f.stats, line 2 is not what `il-morph train` writes (it is not UTF-8)"),
    (b"[1]", "f.stats is not what `il-morph train` writes (it is not a JSON object)"),
    (b'{"seed": ' + b"1" * 5000 + b"}", "f.stats is not what")])
def test_stats_that_cannot_be_read_are_named_with_the_line(refusal, content, start):
    assert refusal(lambda folder: (folder / "f.stats").write_bytes(content)).startswith(start)


@pytest.mark.parametrize("command", [[], ["il-morph"], ["il-morph", "predict", "a"], ["il-morph", "train", "--nothing"],
                                     ["il-morph", "train", "--help"], ["il-morph", "train", "-xh", "a", "b", "c"]])
def test_a_command_that_trains_nothing_is_refused(refusal, command):
    message = refusal(lambda folder: recorded(folder, command=command))
    assert message.startswith("f.stats: the recorded command is not an `il-morph train` command")


def test_where_all_data_is_given_the_command_is_not_asked(tmp_path):
    folder = recorded(made_run(tmp_path), command=["il-morph", "predict", "a"])
    flags = [f"--{part}={tmp_path / part}" for part in ("train", "dev", "test")]
    page = report(tmp_path / "page.html", folder, *flags)
    assert "8 lines of test data" in paragraphs(page) and "training data has moved" not in paragraphs(page)


def test_the_refusal_of_a_command_says_which_flags_do_without_it(refusal):
    message = refusal(lambda folder: recorded(folder, command=["il-morph"]), "--test=a")
    assert message.endswith("run it again, or give its data with --train, --dev and --test\n")


def test_a_path_that_cannot_be_one_is_not_there(refusal):
    message = refusal(lambda folder: recorded(folder, command=["il-morph", "train", "a", f"{folder}/b\0", "c"]))
    assert "the dev data of copy, does not exist" in message


def test_predictions_of_no_search_are_passed_over(made, tmp_path, capsys):
    folder = shutil.copytree(made, tmp_path / "copy")
    for name in ("beamX", "beam", "beam٤", "beam0", "beam04", "beam99999999999", "other", "beam9.old"):
        shutil.copy(folder / "f.beam4.test.predictions", folder / f"f.{name}.test.predictions")
    page = report(tmp_path / "page.html", folder)
    assert "8 lines of test data, beam4 search" in paragraphs(page)
    for name in ("beamX", "beam04", "beam9999", "../x", ""):
        message = error_of(capsys, "report", str(folder), f"--search={name}", f"--output={tmp_path / 'other.html'}")
        assert message == f"--search takes greedy, or beam and its width as in beam4, not {name!r}\n"


def test_errors_of_the_report_name_what_is_missing(capsys, tmp_path):
    folder = made_run(tmp_path / "one")
    output = f"--output={tmp_path / 'page.html'}"
    assert "holds no finished run" in error_of(capsys, "report", str(tmp_path), output)
    assert "is given twice" in error_of(capsys, "report", str(folder), str(folder), output)
    assert "--part takes one of test, dev" in error_of(capsys, "report", str(folder), "--part=train", output)
    assert "f.beam9.test.predictions does not exist: for test, made has beam4, greedy" in error_of(
        capsys, "report", str(folder), "--search=beam9", output)
    other = made_run(tmp_path / "two", words=[Sample("other", "N;PL", "others"), *WORDS[1:]])
    assert "the files must have the same inputs" in error_of(capsys, "report", str(folder), str(other), output)
    (tmp_path / "one" / "test").unlink()
    assert "does not exist: if it has moved, give --test=FILE" in error_of(capsys, "report", str(folder), output)
    (folder / "f.stats").write_text("{}", encoding="utf-8")
    assert "f.stats is not what `il-morph train` writes" in error_of(capsys, "report", str(folder), output)
    assert not (tmp_path / "page.html").exists()
    (tmp_path / "page.html").write_text("mine")
    assert "exists already" in error_of(capsys, "report", str(other), output)


def test_the_steps_of_edits_are_those_of_their_text():
    assert edits("a b", "ab+") == "a -␣ b ++"
    assert edit_steps("a b", "ab+") == [("", "a"), ("-", " "), ("", "b"), ("+", "+")]


# Tables of the paper

def test_a_table_is_a_page_with_its_picture(tmp_path, capsys):
    runs = [Run("0500", "ca-r", language, "0", "1", 1, 1.0, None, None, None, None, 88.8, "dynet", "abc")
            for language in ("rP-pA", "13SIA-13SKE")]
    (tmp_path / "measured.tsv").write_text(measured(runs), encoding="utf-8")
    assert main(["table", "celex", str(tmp_path / "measured.tsv"), "--format=html"]) == 0
    page = Page(capsys.readouterr().out)
    assert [text for _, text in page.all("h1")][0].startswith("CELEX")
    assert "CA-R" in page.rows and "88.8" in page.rows
    pictures = page.all("img")
    assert len(pictures) == 1 and pictures[0][0]["src"].startswith("data:image/svg+xml;base64,")


def test_a_table_without_runs_is_a_page_without_pictures(tmp_path, capsys):
    (tmp_path / "results").mkdir()
    assert main(["table", "celex", str(tmp_path / "results"), "--format=html"]) == 0
    page = Page(capsys.readouterr().out)
    assert page.all("img") == [] and any("No plot: these results contain no runs" in text for _, text in page.all("p"))


def test_all_tables_are_one_page(capsys):
    assert main(["table", "all", str(ROOT / "experiments"), "--format=html"]) == 0
    page = Page(capsys.readouterr().out)
    assert [text for _, text in page.all("h1")] == ["Our runs beside the paper"]
    assert len(page.all("img")) >= 3
