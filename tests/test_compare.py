"""The comparison with published results: what is set beside what, and the figures."""
import subprocess
import sys
from pathlib import Path

import pytest

from il_morph.reproduction.tables import HEADER
from tests.shared import SHARED, needs_shared

SCRIPT = Path(__file__).resolve().parents[1] / "experiments" / "comparison" / "compare.py"
PUBLISHED = """dataset\tsetting\tmodel\tkind\tlanguage\tmean_accuracy\tstd_accuracy_sample
sigmorphon2017\tlow\tCA-cls\tsingle\tlatin\t20.0\t1.5
sigmorphon2017\tlow\tCA-cls\tsingle\tczech\t40.0\t1.0
sigmorphon2017\tlow\tCA-LCS\tensemble\tlatin\t22.0\tNA
sigmorphon2017\tlow\tCA-R\tensemble\tlatin\t30.0\tNA
sigmorphon2017\tlow\tCA-R\tensemble\tczech\t50.0\tNA
sigmorphon2016\ttask1\tCA-R\tensemble\tlatin\t99.0\tNA
"""
RUNS = [("ca", "latin", "1", 21.0), ("ca", "czech", "1", 37.0), ("ca", "latin", "1+2+3+4+5", 22.5),
        ("ca-r", "latin", "1", 28.0), ("ca-r", "latin", "2", 30.0), ("ca-r", "latin", "1+2", 31.0),
        ("ca-r", "czech", "1", 49.0), ("ca-r", "czech", "2", 47.0),
        ("ca-r-uniform", "latin", "1", 23.0), ("ca-r-uniform", "czech", "1", 40.0), ("ca-r-bias", "latin", "1", 29.0)]


def compare(*arguments):
    return subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], capture_output=True, text=True, timeout=120)


@pytest.fixture
def files(tmp_path):
    published, measured = tmp_path / "published.tsv", tmp_path / "measured.tsv"
    published.write_text(PUBLISHED, encoding="utf-8")
    lines = [["low", model, language, "-", seed, str(10 * int(seed[0])), f"{int(seed[0])}.50", "-", "-", "-",
              f"{accuracy:.4f}", "abc"] for model, language, seed, accuracy in RUNS]
    measured.write_text("".join("\t".join(line) + "\n" for line in [HEADER, *lines]), encoding="utf-8")
    return published, f"--measured={measured}"


def section(text, title):
    """The cells of the tables under a heading."""
    body = text.split(f"## {title}")[1].split("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in body.splitlines() if line.startswith("|")]


def test_singles_are_compared_with_singles_and_votes_with_votes(files):
    text = compare("sigmorphon2017", *files).stdout
    single = section(text, "Single models against the authors' single models: low")
    assert single[2] == ["CA", "2", "2", "29.0", "30.0", "-1.00", "2.83", "czech -3.0", "latin +1.0", "czech (-3.0)"]
    assert ["latin", "21.0", "20.0 ± 1.5"] in single
    vote = section(text, "Five models voting against the authors' five models voting: low")
    assert [row[0] for row in vote] == ["model", "---", "CA", "language", "---", "latin"]
    assert vote[2][3:6] == ["22.5", "22.0", "+0.50"]


def test_one_model_is_set_beside_the_vote_where_no_singles_were_published(files):
    one = section(compare("sigmorphon2017", *files).stdout, "Our single models against the authors' five models voting")
    assert one[2] == ["CA-R", "2", "4", "38.5", "40.0", "-1.50", "0.71", "czech -2.0", "latin -1.0", "–"]


def add_runs(files, *runs):
    lines = [["low", "ca-r", language, "-", seed, "-", "-", "-", "-", "-", f"{accuracy:.4f}", "abc"]
             for language, seed, accuracy in runs]
    with Path(files[1].partition("=")[2]).open("a", encoding="utf-8") as stream:
        stream.write("".join("\t".join(line) + "\n" for line in lines))


def test_what_voting_is_worth(files):
    """Votes of all five seeds count, against the mean of their members."""
    assert "What voting is worth" not in compare("sigmorphon2017", *files).stdout
    add_runs(files, ("latin", "3", 28), ("latin", "4", 30), ("latin", "5", 29), ("latin", "1+2+3+4+5", 33),
             ("czech", "1+2+3+4+5", 60))
    text = compare("sigmorphon2017", *files).stdout
    assert section(text, "What voting is worth")[2:] == [["low", "CA-R", "1", "+4.00", "–", "+4.0", "+4.0"]]


def test_without_published_deviations_languages_are_judged_by_the_others(files):
    """Nine languages 1 below the authors' vote and one 9 above: 2.85 standard deviations off the mean."""
    title = "Our single models against the authors' five models voting"
    others = ["danish", "dutch", "english", "finnish", "french", "georgian", "german", "haida"]
    with files[0].open("a", encoding="utf-8") as stream:
        stream.write("".join(f"sigmorphon2017\tlow\tCA-R\tensemble\t{name}\t30.0\tNA\n" for name in others))
    add_runs(files, *((name, "1", 29) for name in others[1:]), ("czech", "3", 51))
    assert section(compare("sigmorphon2017", *files).stdout, title)[2][-1] == "–", "nine are too few"
    add_runs(files, ("danish", "1", 39))
    assert section(compare("sigmorphon2017", *files).stdout, title)[2][-1] == "danish (+2.8)"


def test_it_is_said_which_folds_were_run(tmp_path):
    published, measured = tmp_path / "published.tsv", tmp_path / "measured.tsv"
    published.write_text(PUBLISHED.splitlines()[0] + "\nlemmatization\twicentowski\tCA-D\tsingle\tirish\t97.0\t1.0\n")
    rows = [HEADER] + [["wicentowski", "ca-d", "irish", fold, "1", "5", "1.00", "-", "-", "-", "96.0", "abc"] for fold in "40"]
    measured.write_text("".join("\t".join(row) + "\n" for row in rows))
    assert "Ours: fold 0, 4 of 10." in compare("lemmatization", published, f"--measured={measured}").stdout
    rows += [[*rows[1][:3], str(fold), *rows[1][4:]] for fold in range(10) if fold not in (0, 4)]
    measured.write_text("".join("\t".join(row) + "\n" for row in rows))
    assert "Ours: fold" not in compare("lemmatization", published, f"--measured={measured}").stdout


def test_one_seed_of_the_single_models(files):
    text = compare("sigmorphon2017", *files, "--seed=2").stdout
    assert ["czech", "47.0", "50.0"] in section(text, "Our single models against the authors' five models voting")
    assert "Single models against the authors' single models" not in text, "CA has no seed 2"
    process = compare("sigmorphon2017", *files, "--seed=7")
    assert process.returncode == 2 and "--seed=7" in process.stderr and process.stdout == ""


def test_variants_are_judged_by_the_noise_of_the_seeds(files):
    add_runs(files, ("welsh", "1", 10), ("welsh", "2", 90))  # another language's seeds do not matter
    text = compare("sigmorphon2017", *files).stdout
    assert section(text, "How much seeds differ")[2:] == [["low", "CA-R", "3", "32.68"]]
    assert section(text, "What variants are worth")[2:] == [
        ["low", "CA-R-UNIFORM", "2", "38.5", "31.5", "-7.00", "1.22 (2)", "–"],
        ["low", "CA-R-BIAS", "1", "29.0", "29.0", "+0.00", "1.73 (1)", "–"]]


def test_variants_are_judged_when_the_noise_rests_on_enough_seeds(files):
    add_runs(files, *(("latin", str(seed), 28 + 2 * (seed % 2)) for seed in range(3, 11)))
    rows = section(compare("sigmorphon2017", *files).stdout, "What variants are worth")[2:]
    assert [row[6:] for row in rows] == [["0.88 (10)", "yes"], ["1.11 (9)", "–"]]
    add_runs(files, ("latin", "11", 29))
    rows = section(compare("sigmorphon2017", *files).stdout, "What variants are worth")[2:]
    assert [row[-1] for row in rows] == ["yes", "no"]


def test_the_time_that_runs_took(files):
    rows = section(compare("sigmorphon2017", *files).stdout, "How long the runs took")
    assert rows[3] == ["low", "CA-R", "4", "15.0", "2.0", "1.5", "2.5"]


def test_runs_that_lack_a_figure(files):
    """Runs without beam search, votes and whatever else has no time."""
    measured = Path(files[1].partition("=")[2])
    before = compare("sigmorphon2017", *files).stdout
    with measured.open("a", encoding="utf-8") as stream:
        stream.write("low\tca-r\tczech\t-\t3\t30\t3.50\t1\t1\t-\t-\tabc\n")
    assert compare("sigmorphon2017", *files).stdout == before
    with measured.open("a", encoding="utf-8") as stream:
        stream.write("low\tca-d\tczech\t-\t1\t-\t-\t1\t1\t1\t5\tabc\nlow\tca-r\tklingon\t-\t1\t-\t-\t1\t1\t1\t5\tabc\n")
    process = compare("sigmorphon2017", *files)
    assert process.returncode == 2 and "klingon is not a language of sigmorphon2017" in process.stderr


def test_output_and_picture_are_written(files, tmp_path):
    pytest.importorskip("matplotlib")
    process = compare("sigmorphon2017", *files, f"--output={tmp_path / 'c.md'}", f"--plot={tmp_path / 'p.svg'}")
    assert (process.returncode, process.stdout) == (0, ""), process.stderr
    assert (tmp_path / "c.md").read_text(encoding="utf-8") == compare("sigmorphon2017", *files).stdout
    assert "<svg" in (tmp_path / "p.svg").read_text(encoding="utf-8")[:1000]


@pytest.mark.parametrize("flags, message", [
    (["--plot=nowhere/p.svg"], "cannot write nowhere/p.svg"),
    (["--plot=p.xyz"], "--plot takes a file .svg or .png"),
    (["--plot=p.svg", "--setting=high"], "--setting takes low or medium, not 'high'"),
    (["--setting=low"], "--setting belongs to --plot"),
])
def test_a_picture_that_cannot_be_drawn(files, tmp_path, flags, message):
    pytest.importorskip("matplotlib")
    process = compare("sigmorphon2017", *files, *flags)
    assert process.returncode == 2 and message in process.stderr and process.stdout == ""
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("content, message", [
    ("a\tb\n", "does not have the columns dataset, setting"),
    (PUBLISHED.replace("20.0", "many"), "line 2: mean_accuracy or std_accuracy_sample is no number"),
    (PUBLISHED.replace("20.0", "nan"), "line 2: mean_accuracy or std_accuracy_sample is no number"),
])
def test_a_published_file_that_is_none(files, content, message):
    files[0].write_text(content, encoding="utf-8")
    process = compare("sigmorphon2017", *files)
    assert process.returncode == 2 and message in process.stderr and process.stdout == ""


@needs_shared
@pytest.mark.parametrize("table", ["sigmorphon2016", "sigmorphon2017", "celex", "lemmatization"])
def test_every_model_of_a_table_is_found_among_the_published_results(table):
    """A run of each model finds something to be compared with."""
    import importlib.util

    spec = importlib.util.spec_from_file_location("compare", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["compare"] = module
    spec.loader.exec_module(module)
    facts = module.load_table(table)
    runs = [module.Run(system.setting, system.model, next(iter(facts.languages)), "0", "1", 1, 1.0, 0, 0, 0, 50.0, "-")
            for system in facts.systems if system.row != "-"]
    published = module.read_published(SHARED / "reference" / "published_results_summary.tsv", facts)
    assert len(list(module.compare(facts, runs, published))) == len(runs) > 0
