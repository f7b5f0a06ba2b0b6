"""experiments/analysis/compare.py and picture.py: what is set beside what, and the figures."""
import re
import subprocess
import sys

import pytest

from il_morph.reproduction.figures import language_figures
from il_morph.reproduction.paper_tables import OF_THE_PAPER, load_table
from il_morph.reproduction.published import load_published
from il_morph.reproduction.run_list import OLD_HEADERS
from il_morph.reproduction.runs import Run
from tests.analysis import run_script
from tests.cli import ROOT
from tests.shared import SHARED, needs_shared
from tests.test_tables import add_run

PUBLISHED = """setting\tsystem\tkind\tlanguage\tfold\taccuracy\tsd
low\tCA\tsingle\tlatin\t-\t20.0\t1.5
low\tCA\tsingle\tczech\t-\t40.0\t1.0
low\tCA\tensemble\tlatin\t-\t22.0\t-
low\tCA-R\tensemble\tlatin\t-\t30.0\t-
low\tCA-R\tensemble\tczech\t-\t50.0\t-
medium\tCA-R\tensemble\tlatin\t-\t99.0\t-
"""
RUNS = [("ca", "latin", "1", 21.0), ("ca", "czech", "1", 37.0), ("ca", "latin", "1+2+3+4+5", 22.5),
        ("ca-r", "latin", "1", 28.0), ("ca-r", "latin", "2", 30.0), ("ca-r", "latin", "1+2", 31.0),
        ("ca-r", "czech", "1", 49.0), ("ca-r", "czech", "2", 47.0),
        ("ca-r-uniform", "latin", "1", 23.0), ("ca-r-uniform", "czech", "1", 40.0), ("ca-r-bias", "latin", "1", 29.0)]


@pytest.fixture
def compare(capsys):
    def run(table, measured, *flags):
        return run_script(capsys, "compare", table, measured, "--format=markdown", *flags)
    return run


@pytest.fixture
def draw(capsys):
    """A picture of the low setting with the runs and published figures in these files."""
    pytest.importorskip("matplotlib")

    def run(picture, files, *flags):
        return run_script(capsys, "picture", "sigmorphon2017", picture, *files, *flags)
    return run


@pytest.fixture
def files(tmp_path):
    published, measured = tmp_path / "published.tsv", tmp_path / "measured.tsv"
    published.write_text(PUBLISHED, encoding="utf-8")
    lines = [["low", model, language, "-", seed, str(10 * int(seed[0])), f"{int(seed[0])}.50", "-", "-", "-",
              f"{accuracy:.4f}", "abc"] for model, language, seed, accuracy in RUNS]
    measured.write_text("".join("\t".join(line) + "\n" for line in [OLD_HEADERS[-1], *lines]), encoding="utf-8")
    return measured, f"--published={published}"


def section(text, title):
    """The cells of the tables under a heading."""
    body = text.split(f"## {title}")[1].split("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines() if line.startswith("|")]


def test_singles_are_compared_with_singles_and_votes_with_votes(files, compare):
    text = compare("sigmorphon2017", *files).stdout
    single = section(text, "Single models beside published single models: low")
    assert single[2] == ["CA", "2", "2", "29.0", "30.0", "-1.00", "0.90", "2.00", "2.83", "1", "1", "1.000",
                         "czech -3.0", "latin +1.0", "czech (-3.0)"]
    assert ["latin", "21.0", "20.0 ± 1.5"] in single
    vote = section(text, "Votes beside published votes: low")
    assert [row[0] for row in vote] == ["system", "---", "CA", "language", "---", "latin"]
    assert vote[2][3:6] == ["22.5", "22.0", "+0.50"]


def test_the_noise_of_a_mean_shrinks_with_the_number_of_models(files, compare):
    """Published deviations 1.5 and 1.0: √(1.5² + 1.0²) / 2 of one model each, √(1.5²/4 + 1.0²) / 2 of four and one."""
    def noise():
        text = compare("sigmorphon2017", *files).stdout
        header, _, row, *_ = section(text, "Single models beside published single models: low")
        return dict(zip(header, row))["noise"]
    assert noise() == "0.90"
    add_runs(files, *(("latin", seed, 21) for seed in "234"), model="ca")
    assert noise() == "0.62"
    assert "noise" not in section(compare("sigmorphon2017", *files).stdout, "Votes beside published votes: low")[0]


def test_one_model_is_set_beside_the_vote_where_no_singles_were_published(files, compare):
    one = section(compare("sigmorphon2017", *files).stdout, "Single models beside published votes")
    assert one[2] == ["CA-R", "2", "4", "38.5", "40.0", "-1.50", "0.50", "0.71", "0", "2", "0.500",
                      "czech -2.0", "latin -1.0", "–"]


def add_runs(files, *runs, model="ca-r"):
    lines = [["low", model, language, "-", seed, "-", "-", "-", "-", "-", f"{accuracy:.4f}", "abc"]
             for language, seed, accuracy in runs]
    with files[0].open("a", encoding="utf-8") as stream:
        stream.write("".join("\t".join(line) + "\n" for line in lines))


def test_what_voting_is_worth(files, compare):
    """Votes of all five seeds count, against the mean of their members."""
    assert "What voting is worth" not in compare("sigmorphon2017", *files).stdout
    add_runs(files, ("latin", "3", 28), ("latin", "4", 30), ("latin", "5", 29), ("latin", "1+2+3+4+5", 33),
             ("czech", "1+2+3+4+5", 60))
    text = compare("sigmorphon2017", *files).stdout
    assert section(text, "What voting is worth")[2:] == [["low", "CA-R", "1", "+4.00", "–", "+4.0", "+4.0"]]


def test_what_published_votes_are_worth(files, compare):
    """Where single models were published beside the vote: of CA on Latin."""
    text = compare("sigmorphon2017", *files).stdout
    assert section(text, "What published votes are worth")[2:] == [["low", "CA", "1", "+2.00", "–", "+2.0", "+2.0"]]


def test_single_models_beside_votes_are_judged_without_what_a_vote_is_worth(files, compare):
    """Six languages, votes of CA worth 1 or 2 there: ours lie 2 or 3 below the votes of CA-R, so 1 is left of 2.5."""
    title = "Single models beside published votes, voting set aside"
    languages = ["danish", "dutch", "english", "finnish", "french", "georgian"]
    with open(files[1].partition("=")[2], "a", encoding="utf-8") as stream:
        for number, name in enumerate(languages):
            figures = [("CA-R", "ensemble", 30), ("CA", "single", 20), ("CA", "ensemble", 21 + number % 2)]
            stream.write("".join(f"low\t{system}\t{kind}\t{name}\t-\t{accuracy}\t-\n"
                                 for system, kind, accuracy in figures))
    add_runs(files, *((name, "1", 28 - number % 2) for number, name in enumerate(languages[:4])))
    assert title not in compare("sigmorphon2017", *files).stdout, "five with Latin are too few"
    add_runs(files, *((name, "1", 28 - number % 2) for number, name in enumerate(languages[4:])))
    lines = files[0].read_text(encoding="utf-8").splitlines(keepends=True)
    files[0].write_text("".join(line for line in lines if "\tlatin\t" not in line), encoding="utf-8")
    assert section(compare("sigmorphon2017", *files).stdout, title)[2:] == [
        ["low", "CA-R", "CA", "6", "-2.50", "0.22", "+1.50", "-1.00", "0.00", "0.031"]]
    add_runs(files, ("danish", "1+2+3+4+5", 30))
    assert title not in compare("sigmorphon2017", *files).stdout, "with votes of ours there is no need to guess"


def test_without_published_deviations_languages_are_judged_by_the_others(files, compare):
    """Nine languages 1 below the authors' vote and one 9 above: 2.85 standard deviations off the mean."""
    title = "Single models beside published votes"
    others = ["danish", "dutch", "english", "finnish", "french", "georgian", "german", "haida"]
    with open(files[1].partition("=")[2], "a", encoding="utf-8") as stream:
        stream.write("".join(f"low\tCA-R\tensemble\t{name}\t-\t30.0\t-\n" for name in others))
    add_runs(files, *((name, "1", 29) for name in others[1:]), ("czech", "3", 51))
    assert section(compare("sigmorphon2017", *files).stdout, title)[2][-1] == "–", "nine are too few"
    add_runs(files, ("danish", "1", 39))
    assert section(compare("sigmorphon2017", *files).stdout, title)[2][-1] == "danish (+2.8)"


def test_it_is_said_which_folds_were_run(tmp_path, compare):
    published, measured = tmp_path / "published.tsv", tmp_path / "measured.tsv"
    published.write_text(PUBLISHED.splitlines()[0] + "\nwicentowski\tCA-D\tsingle\tirish\t-\t97.0\t1.0\n")
    rows = [OLD_HEADERS[-1]] + [["wicentowski", "ca-d", "irish", fold, "1", "5", "1.00", "-", "-", "-", "96.0", "abc"]
                           for fold in "40"]
    measured.write_text("".join("\t".join(row) + "\n" for row in rows))
    assert "Ours: fold 0, 4 of 10." in compare("lemmatization", measured, f"--published={published}").stdout
    rows += [[*rows[1][:3], str(fold), *rows[1][4:]] for fold in range(10) if fold not in (0, 4)]
    measured.write_text("".join("\t".join(row) + "\n" for row in rows))
    assert "Ours: fold" not in compare("lemmatization", measured, f"--published={published}").stdout


def test_one_seed_of_the_single_models(files, compare):
    text = compare("sigmorphon2017", *files, "--seed=2").stdout
    assert ["czech", "47.0", "50.0"] in section(text, "Single models beside published votes")
    assert "Single models beside published single models" not in text, "CA has no seed 2"
    process = compare("sigmorphon2017", *files, "--seed=7")
    assert process.returncode == 2 and "--seed=7" in process.stderr and process.stdout == ""


def test_variants_are_judged_by_the_noise_of_the_seeds(files, compare):
    add_runs(files, ("welsh", "1", 10), ("welsh", "2", 90))  # another language's seeds do not matter
    text = compare("sigmorphon2017", *files).stdout
    assert section(text, "How much seeds differ")[2:] == [["low", "CA-R", "3", "32.68"]]
    assert section(text, "What variants are worth")[2:] == [
        ["low", "ca-r-uniform", "CA-R", "2", "38.5", "31.5", "-7.00", "1.22 (2)", "–"],
        ["low", "ca-r-bias", "CA-R", "1", "29.0", "29.0", "+0.00", "1.73 (1)", "–"]]


def test_variants_are_judged_when_the_noise_rests_on_enough_seeds(files, compare):
    add_runs(files, *(("latin", str(seed), 28 + 2 * (seed % 2)) for seed in range(3, 11)))
    rows = section(compare("sigmorphon2017", *files).stdout, "What variants are worth")[2:]
    assert [row[7:] for row in rows] == [["0.88 (10)", "yes"], ["1.11 (9)", "–"]]
    add_runs(files, ("latin", "11", 29))
    rows = section(compare("sigmorphon2017", *files).stdout, "What variants are worth")[2:]
    assert [row[-1] for row in rows] == ["yes", "no"]


def test_the_time_that_runs_took(files, compare):
    rows = section(compare("sigmorphon2017", *files).stdout, "How long the runs took")
    assert rows[3] == ["low", "CA-R", "dynet", "4", "15.0", "2.0", "1.5", "2.5", "–", "0"]


def test_runs_that_lack_a_figure(files, compare):
    """Runs without beam search, votes and whatever else has no time."""
    measured = files[0]
    before = compare("sigmorphon2017", *files).stdout
    with measured.open("a", encoding="utf-8") as stream:
        stream.write("low\tca-r\tczech\t-\t3\t30\t3.50\t1\t1\t-\t-\tabc\n")
    assert compare("sigmorphon2017", *files).stdout == before
    with measured.open("a", encoding="utf-8") as stream:
        stream.write("low\tca-d\tczech\t-\t1\t-\t-\t1\t1\t1\t5\tabc\nlow\tca-r\tklingon\t-\t1\t-\t-\t1\t1\t1\t5\tabc\n")
    process = compare("sigmorphon2017", *files)
    assert process.returncode == 2 and "klingon is not a language of sigmorphon2017" in process.stderr


def test_a_picture_is_written(files, tmp_path, draw):
    done = draw(tmp_path / "p.svg", files)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "<svg" in (tmp_path / "p.svg").read_text(encoding="utf-8")[:1000]


def test_a_picture_is_only_overwritten_with_force(files, tmp_path, draw):
    (tmp_path / "p.svg").write_text("precious")
    done = draw(tmp_path / "p.svg", files)
    assert done.returncode == 2 and f"{tmp_path / 'p.svg'} exists already" in done.stderr
    assert (tmp_path / "p.svg").read_text() == "precious"
    assert draw(tmp_path / "p.svg", files, "--force").returncode == 0
    assert (tmp_path / "p.svg").stat().st_size > len("precious")


def test_the_picture_says_what_it_shows(files, tmp_path, draw):
    """The same points, the same words in the file, whichever matplotlib drew it."""
    said = []
    for runs in ([], [("danish", "1", 39)]):
        add_runs(files, *runs)
        draw(tmp_path / "p.svg", files, "--force")
        said.append(re.search("<dc:description>(.*)</dc:description>", (tmp_path / "p.svg").read_text("utf-8"))[1])
    assert said[0].startswith("2 points, ") and said[0] == said[1], "nothing was published of Danish"
    add_runs(files, ("latin", "1+2+3+4+5", 31))
    draw(tmp_path / "p.svg", files, "--force")
    assert "3 points, " in (tmp_path / "p.svg").read_text("utf-8")


def test_the_picture_says_how_far_votes_are_off(files, tmp_path, draw):
    """Single models are 1 and 2 below the published votes; of two votes one is 1 above and one is 4 above."""
    draw(tmp_path / "p.svg", files)
    assert "<!-- single models beside a vote: -1.50 ± 0.50 -->" in (tmp_path / "p.svg").read_text("utf-8")
    add_runs(files, ("latin", "1+2+3+4+5", 31))
    draw(tmp_path / "p.svg", files, "--force")
    assert " ± " not in (tmp_path / "p.svg").read_text("utf-8"), "one language has no spread"
    add_runs(files, ("czech", "1+2+3+4+5", 54))
    draw(tmp_path / "p.svg", files, "--force")
    assert "<!-- votes: +2.50 ± 1.50 -->" in (tmp_path / "p.svg").read_text("utf-8")


def test_a_picture_needs_matplotlib(files, tmp_path, draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = draw(tmp_path / "p.svg", files)
    assert done.returncode == 2 and "pictures need matplotlib: pip install matplotlib" in done.stderr
    assert done.stdout == "" and not (tmp_path / "p.svg").exists()


@pytest.mark.parametrize("picture, flags, message", [
    ("nowhere/p.svg", [], "cannot write nowhere/p.svg"),
    ("p.xyz", [], "FILE is a picture .svg or .png, not 'p.xyz'"),
    ("p.svg", ["--setting=high"], "--setting takes low or medium, not 'high'"),
    ("p.svg", ["--setting=medium"], "nothing to draw: no runs of CA-D, CA-R or CA-RM in medium"),
])
def test_a_picture_that_cannot_be_drawn(files, tmp_path, picture, flags, message, draw, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = draw(picture, files, *flags)
    assert done.returncode == 2 and message in done.stderr and done.stdout == ""
    assert not (tmp_path / "p.svg").exists()


@pytest.mark.slow
def test_scripts_start_from_any_folder_and_end_with_a_message(tmp_path):
    """A message and exit code 2, no traceback."""
    for name, arguments in (("compare", ["celex"]), ("against", ["celex", "x"]), ("cost", ["celex"]),
                            ("picture", ["celex", "p.svg"])):
        command = [sys.executable, ROOT / "experiments" / "analysis" / f"{name}.py", *arguments, "nowhere"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 2 and done.stderr.startswith(f"{name}.py: error: cannot read"), done.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("content, message", [
    ("", "does not have the columns setting, system"),
    ("a\tb\n", "does not have the columns setting, system"),
    (PUBLISHED.replace("20.0", "many"), "line 2: accuracy or sd is not a number"),
    (PUBLISHED.replace("20.0", "nan"), "line 2: accuracy or sd is not a number"),
    (PUBLISHED.replace("20.0", "-"), "line 2: kind is neither single nor ensemble, or the accuracy is missing"),
    (PUBLISHED.replace("single", "double"), "line 2: kind is neither single nor ensemble, or the accuracy is missing"),
    (PUBLISHED + "low\n", "line 8: accuracy or sd is not a number"),
    (PUBLISHED + PUBLISHED.splitlines()[1] + "\n", "line 8: repeats a line above"),
])
def test_a_published_file_that_is_none(files, content, message, compare):
    path = files[1].partition("=")[2]
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(content)
    process = compare("sigmorphon2017", *files)
    assert process.returncode == 2 and message in process.stderr and process.stdout == ""
    assert path in process.stderr


def test_a_comparison_for_machines_has_a_title_for_each_grid(tmp_path, capsys):
    add_run(tmp_path / "task1" / "ca-d" / "russian" / "1", 90.0, cpu_seconds=75)
    for language, seed, accuracy in (("russian", 2, 92.0), ("german", 1, 95.0), ("german", 2, 96.0), ("turkish", 1, 8)):
        add_run(tmp_path / "task1" / "ca-d" / language / str(seed), accuracy)
    done = run_script(capsys, "compare", "sigmorphon2016", tmp_path, "--format=tsv")
    titled = [part.splitlines() for part in done.stdout.split("# ")[1:]]
    grids = {part[0]: [line.split("\t") for line in part[1:]] for part in titled}
    assert grids["How much seeds differ"] == [["setting", "system", "languages (and folds)", "sd"],
                                              ["task1", "CA-D", "2", "1.12"]]
    assert grids["How long the runs took"][1] == ["task1", "CA-D", "dynet", "5", "7.0", "1.5", "1.5", "1.5", "1.2", "1"]


@needs_shared
@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_every_model_of_a_table_is_found_among_the_published_results(name, tmp_path):
    """A run of each model finds something to be compared with, in what the script makes of the published results."""
    script = ROOT / "experiments" / "tools" / "published.py"
    made = subprocess.run([sys.executable, script, SHARED / "reference", f"--output={make(tmp_path)}"],
                          capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    table = load_table(name)
    language = next(iter(table.languages))
    runs = [Run(system.setting, system.model, language, "0", "1", 1, 1.0, 1.0, 0, 0, 0, 50.0, "dynet", "-")
            for system in table.systems if system.row != "-"]
    found = language_figures(table, load_published(table, tmp_path / name / "published.tsv"), runs)
    assert len(found) == len(runs) > 0 and all(each.published for each in found)
    kept = ROOT / "experiments" / name / "published.tsv"
    assert (tmp_path / name / "published.tsv").read_bytes() == kept.read_bytes()


def make(folder):
    for name in OF_THE_PAPER:
        (folder / name).mkdir()
    return folder
