"""bin/fetch_data.sh, with local clones: small ones made up here, and ones with the real data where it is at hand."""
import hashlib
import os
import shutil
import subprocess

import pytest

from tests.shared import SHARED, needs_shared
from tests.tiny import PROJECT

REPOSITORIES = {"sigmorphon2016": "sigmorphon2016", "sigmorphon2017": "conll2017", "celex": "neural_wfst",
                "lemmatization": "coling2018-neural-transition-based-morphology", "g2p2020": "2020",
                "g2p2021": "2021-task1", "segmentation2022": "2022SegmentationST",
                "sigmorphon2022": "2022InflectionST"}
FILES = {  # in DEST, and in the repository
    "sigmorphon2016/navajo-task1-train": "data/navajo-task1-train",
    "sigmorphon2016/navajo-task1-test": "data/navajo-task1-test",
    "sigmorphon2017/task1/welsh-train-low": "all/task1/welsh-train-low",
    "sigmorphon2017/task1/welsh-uncovered-test": "answers/task1/welsh-uncovered-test",
    "lemmatization/irish_0_dev.txt": "data/lemmatization/data/irish_0_dev.txt",
    "celex/rP-pA/0500/0/train": "res/celex/rP-pA/0500/0/train",
    "g2p2020/dev/fre_dev.tsv": "task1/data/dev/fre_dev.tsv",
    "g2p2021/low/ita_train.tsv": "data/low/ita_train.tsv",
    "segmentation2022/ces.word.dev.tsv": "data/ces.word.dev.tsv",
    "sigmorphon2022/part1/ang.dev": "part1/development_languages/ang.dev",  # wherever in part1
    "sigmorphon2022/part2/ara_100.train": "part2/ara_100.train",
}


def git(folder, *arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


def make_repository(folder, files):
    """A git repository whose one commit has these files, and more."""
    for name, content in {**files, "README": b"about this repository"}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=data")


def content(name):
    return f"content of {name}\twith a blank, and a carriage return\r\n".encode()


@pytest.fixture
def project(tmp_path):
    """A copy of the script in a project with some data files, and clones that hold them."""
    folder = tmp_path / "project"
    (folder / "experiments").mkdir(parents=True)
    (folder / "bin").mkdir()
    for name in ("fetch_data.sh", "environment.sh"):
        shutil.copy(PROJECT / "bin" / name, folder / "bin" / name)
    (folder / "experiments" / "data.sha256").write_text(
        "".join(f"{hashlib.sha256(content(name)).hexdigest()}  {name}\n" for name in FILES))
    for data_set, repository in REPOSITORIES.items():
        make_repository(tmp_path / "clones" / repository,
                        {path: content(name) for name, path in FILES.items() if name.startswith(data_set + "/")})
    return folder


def fetch(project, *options, answer=None, env=None):
    return subprocess.run([project / "bin" / "fetch_data.sh", *options], input=answer or "", env=env,
                          capture_output=True, text=True, cwd=project.parent)


def installed(dest):
    return {str(path.relative_to(dest)) for path in dest.rglob("*") if path.is_file()}


def test_the_layout(project, tmp_path):
    done = fetch(project, "--from", "clones", "data", answer="yes\n")
    assert done.returncode == 0, done.stderr
    assert "Linguistic Data Consortium" in done.stderr and "[y/N]" in done.stderr
    assert installed(tmp_path / "data") == set(FILES)
    assert all((tmp_path / "data" / name).read_bytes() == content(name) for name in FILES)


@pytest.mark.parametrize("options, answer", [([], "n\n"), ([], ""), (["--no-celex"], "y\n")])
def test_without_celex(project, tmp_path, options, answer):
    done = fetch(project, "--from=clones", *options, "data", answer=answer)
    assert done.returncode == 0 and "without CELEX" in done.stderr
    assert installed(tmp_path / "data") == {name for name in FILES if not name.startswith("celex/")}
    done = fetch(project, "--from=clones", "--celex", "data")
    assert done.returncode == 0 and "data/lemmatization exists already" in done.stderr
    assert installed(tmp_path / "data") == set(FILES)


def test_the_pinned_commit_is_taken(project, tmp_path):
    """What is checked out may be newer."""
    clone = tmp_path / "clones" / "neural_wfst"
    pinned = subprocess.run(["git", "-C", clone, "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True).stdout.strip()
    text = (project / "bin" / "fetch_data.sh").read_text()
    assert "se4u/neural_wfst 9dd8da9" in text
    (project / "bin" / "fetch_data.sh").write_text(text.replace("neural_wfst 9dd8da9", f"neural_wfst {pinned}"))
    (clone / "res/celex/rP-pA/0500/0/train").write_text("changed upstream")
    git(clone, "commit", "--quiet", "--all", "--message=newer")
    done = fetch(project, "--from=clones", "--celex", "data")
    assert done.returncode == 0, done.stderr
    assert "neural_wfst has no commit" not in done.stderr


def refused(project, *options):
    done = fetch(project, *options)
    assert done.returncode == 1
    return done.stderr


def test_wrong_checksum(project, tmp_path):
    clone = tmp_path / "clones" / "conll2017"
    (clone / "all/task1/welsh-train-low").write_text("something else")
    git(clone, "commit", "--quiet", "--all", "--message=changed")
    told = refused(project, "--from=clones", "--celex", "data")
    assert "the data of sigmorphon2017 has changed; nothing was installed" in told
    assert "sigmorphon2017/task1/welsh-train-low: FAILED" in told
    assert not (tmp_path / "data").exists()


def test_half_a_clone(project, tmp_path):
    clone = tmp_path / "clones" / "coling2018-neural-transition-based-morphology"
    git(clone, "rm", "--quiet", "data/lemmatization/data/irish_0_dev.txt")
    git(clone, "commit", "--quiet", "--message=gone")
    told = refused(project, "--from=clones", "--celex", "data")
    assert "has no data/lemmatization/data/irish_0_dev.txt" in told and "the clone is incomplete" in told
    assert not (tmp_path / "data").exists()


def test_a_clone_without_its_objects(project, tmp_path):
    shutil.rmtree(tmp_path / "clones" / "neural_wfst" / ".git" / "objects")
    told = refused(project, "--from=clones", "--celex", "data")
    assert "neural_wfst is not a git clone of se4u/neural_wfst" in told
    assert not (tmp_path / "data").exists()


def test_a_clone_that_is_missing(project, tmp_path):
    shutil.rmtree(tmp_path / "clones" / "conll2017")
    told = refused(project, "--from=clones", "--celex", "data")
    assert "conll2017 is not a git clone of sigmorphon/conll2017" in told
    assert not (tmp_path / "data").exists()


def test_no_network(project, tmp_path):
    """Git is told to go through a proxy that is not there."""
    proxy = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    (tmp_path / "data").mkdir()
    done = fetch(project, "--no-celex", "data", env={**os.environ, **proxy})
    assert done.returncode == 1
    assert "could not clone https://github.com/ryancotterell/sigmorphon2016" in done.stderr
    assert "--from DIR" in done.stderr
    assert list((tmp_path / "data").iterdir()) == []


def test_damaged_data_is_told_and_left_alone(project, tmp_path):
    fetch(project, "--from=clones", "--no-celex", "data")
    damaged = tmp_path / "data" / "lemmatization" / "irish_0_dev.txt"
    damaged.write_text("mine")
    told = refused(project, "--from=clones", "--no-celex", "data")
    assert "data/lemmatization exists, but its checksums differ" in told and "irish_0_dev.txt: FAILED" in told
    assert damaged.read_text() == "mine"
    assert sorted(os.listdir(tmp_path / "data")) == sorted(set(REPOSITORIES) - {"celex"})


@pytest.mark.parametrize("options, message", [
    ([], "DEST is missing"), (["a", "b"], "give one DEST, not two"), (["--fast", "a"], "unknown option --fast"),
    (["--from"], "--from takes a folder"), (["--from=nowhere", "a"], "there is no folder nowhere"),
])
def test_bad_options(project, tmp_path, options, message):
    assert message in refused(project, *options)
    assert not (tmp_path / "a").exists()


def test_help(project):
    done = fetch(project, "--help")
    assert done.returncode == 0
    assert all(f"/{repository} at " in done.stdout for repository in REPOSITORIES.values())


def repository_path(name):
    """Where the repositories keep the files of the layout."""
    first, rest = name.split("/", 1)
    if first == "sigmorphon2017":
        return ("answers/" if name.endswith("-uncovered-test") else "all/") + rest
    return {"sigmorphon2016": "data/", "lemmatization": "data/lemmatization/data/", "celex": "res/celex/",
            "g2p2020": "task1/data/", "g2p2021": "data/", "segmentation2022": "data/",
            "sigmorphon2022": ""}[first] + rest


@needs_shared
def test_the_real_data(tmp_path):
    """The list names every file of the data sets, and their contents pass."""
    names = [line.split("  ")[1] for line in (PROJECT / "experiments" / "data.sha256").read_text().splitlines()]
    data = SHARED / "data"
    assert set(names) == {str(path.relative_to(data)) for first in REPOSITORIES for path in (data / first).rglob("*")
                          if path.is_file()}
    for data_set, repository in REPOSITORIES.items():
        make_repository(tmp_path / "clones" / repository, {
            repository_path(name): (data / name).read_bytes() for name in names if name.startswith(data_set + "/")})
    done = subprocess.run([PROJECT / "bin" / "fetch_data.sh", "--from", tmp_path / "clones", "--celex",
                           tmp_path / "data"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / "data" / name).read_bytes() == (data / name).read_bytes() for name in names)
