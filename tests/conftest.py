"""Fixtures of all tests: tiny data, models trained on it."""
import itertools
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from il_morph.commands import main
from tests.cli import Data, Run, il_morph, training_arguments

try:
    import dynet_config
except ImportError:
    pass
else:  # DyNet takes its settings once per process, when it is first imported; its pools must not grow
    dynet_config.set(random_seed=1, mem=512)

# No test depends on how busy the machine is
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# Shells let what they start in the background ignore Ctrl-C, and so would the commands that are tested
signal.signal(signal.SIGINT, signal.default_int_handler)

# What tests write need not survive a power cut: nobody waits for the disk
os.fsync = lambda descriptor: None

MEMORISING = ["--input=24", "--feat-input=12", "--enc-hidden=32", "--dec-hidden=32", "--dynet-mem=16",
              "--epochs=25", "--patience=25", "--dynet-seed=1", "--pick-ties=earlier"]


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> Data:
    """Ten training samples, four for development and three for testing, in every layout."""
    return Data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def trained(data, tmp_path_factory) -> Run:
    """A model that knows most of its training samples, trained by the real command."""
    pytest.importorskip("dynet")
    folder = tmp_path_factory.mktemp("trained") / "results"
    process = il_morph(*training_arguments(data, folder, [f"--test-path={data('test')}"], defaults=MEMORISING))
    assert process.returncode == 0, process.stderr
    return Run(folder)


@pytest.fixture(scope="session")
def known(data, tmp_path_factory):
    """A function like `train` that trains once with the same flags; nobody may change what it leaves."""
    pytest.importorskip("dynet")
    folder, runs = tmp_path_factory.mktemp("known"), {}

    def run(*flags: str, layout: str = "") -> Run:
        if (flags, layout) not in runs:
            runs[flags, layout] = Run(folder / str(len(runs)))
            assert main(training_arguments(data, runs[flags, layout].folder, flags, layout)) == 0
        return runs[flags, layout]

    return run


@pytest.fixture
def train(data, tmp_path):
    """A function that trains a small model in this process, for one epoch unless the flags say otherwise."""
    pytest.importorskip("dynet")
    numbers = itertools.count()

    def run(*flags: str, layout: str = "", folder: Path = None) -> Run:
        folder = folder or tmp_path / f"results{next(numbers)}"
        assert main(training_arguments(data, folder, flags, layout)) == 0
        return Run(folder)

    return run


@pytest.fixture(scope="module")
def numpy_kernels(tmp_path_factory):
    """The native engine has NumPy's kernels, here and in processes that are started: loading Numba takes longer."""
    folder = tmp_path_factory.mktemp("without-numba")
    (folder / "numba.py").write_text('raise ModuleNotFoundError("No module named numba")\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "il_morph.engines.native.kernels_numba", None)
        patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
        patch.syspath_prepend(folder)  # processes of several seeds get it
        yield


# What is left out

LEFT_OUT = "slow: bin/test.sh --all runs it"


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--all"):
        for item in items:
            if item.get_closest_marker("slow"):
                item.add_marker(pytest.mark.skip(reason=LEFT_OUT))


def pytest_terminal_summary(terminalreporter):
    """How many tests were skipped for which reason."""
    reports = terminalreporter.getreports("skipped")
    reasons = Counter(report.longrepr[2].replace("Skipped: ", "", 1) for report in reports)
    if reasons:
        terminalreporter.section("skipped")
    for reason, number in reasons.most_common():
        terminalreporter.line(f"{number:5} {reason}")
