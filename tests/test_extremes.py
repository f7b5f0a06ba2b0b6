"""The least and the greatest value of numeric flags, in both engines: a training ends well, or says what is wrong."""
import json
import warnings

import pytest

from il_morph.commands import main
from il_morph.model.settings import declarations
from tests.cli import training_arguments

MLE = ["--mode=mle", "--align-smart"]
MRT = ["--mode=mrt", "--align-cls", "--pretrain-epochs=1", "--epochs=2"]
RL = ["--mode=rl", "--align-cls", "--pretrain-epochs=1", "--epochs=2"]
EXTREMES = [
    ["--learning-rate=1e6", "--optimization=SGD"], ["--learning-rate=1e6", "--optimization=ADAM"],
    ["--learning-rate=1e6"], ["--l2=1e6"], ["--dropout=0.99"], ["--lucky-w=1e6", "--feat-input=0"],
    ["--lucky-w=-1e6", "--feat-input=0"], ["--il-k=1e-6"], ["--il-k=1e6"], ["--il-k=1e6", "--il-decay=exponential"],
    ["--il-beta=0"], ["--il-beta=1"], ["--il-tforcing-epochs=1"], ["--batch-size=10000"], ["--decbatch-size=1"],
    ["--decbatch-size=100000"], ["--lr-schedule=warmup-decay", "--lr-warmup=1e-3", "--lr-decay=1e-6"],
    ["--lr-schedule=plateau", "--lr-decay=1", "--lr-patience=1"], ["--patience=1", "--epochs=2"],
    ["--input=1", "--action-input=1", "--feat-input=1", "--enc-hidden=1", "--dec-hidden=1"], ["--mlp=1"],
    ["--enc-layers=5", "--dec-layers=5"], ["--beam-widths=100"], ["--pretrain-epochs=1", "--pretrain-dropout=0.99"],
    ["--dynet-seed=0"], ["--dynet-seed=4294967295"], ["--average-weights=0.99999"], ["--average-weights=1e-6"],
    [*MLE, "--iterations=1"], [*MLE, "--beam-width=100"], [*MRT, "--sample-size=1"], [*MRT, "--alpha=0"],
    [*MRT, "--alpha=1e6"], [*MRT, "--mrt-action-cost=1"], [*MRT, "--pretrain-until=1"], [*RL, "--beta=0"],
    [*RL, "--beta=1e6"], [*RL, "--scale-negative=0"], [*RL, "--scale-negative=1e6"],
    ["--trials=2"],
]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["native", "dynet"])
@pytest.mark.parametrize("flags", EXTREMES, ids=" ".join)
def test_extreme_values_train_or_are_refused_without_warnings(data, tmp_path, engine, flags, capfd):
    if engine == "dynet":
        pytest.importorskip("dynet")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        code = main(training_arguments(data, tmp_path / "r", [f"--engine={engine}", *flags]))
    said = capfd.readouterr().err
    assert code in (0, 2) and "Traceback" not in said and "Warning" not in said
    if code == 0:
        stats = json.loads((tmp_path / "r" / "f.stats").read_text(), parse_constant=pytest.fail)
        assert 0 <= stats["scores"]["greedy.dev"]["accuracy"] <= 100
    else:
        assert said.count("il-morph: error: ") == 1 and not (tmp_path / "r" / "f.stats").exists()


def test_every_numeric_setting_has_an_extreme_value_here():
    numeric = {name for name, declared in declarations().items() if "low" in declared.metadata}
    flags = {flag[2:].split("=")[0].replace("-", "_") for flags in EXTREMES for flag in flags}
    assert numeric <= flags
