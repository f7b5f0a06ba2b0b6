"""Compile the kernels of `transducer` or `nwfst` once: the processes of the tests find them in Numba's cache."""
import sys
import tempfile
from pathlib import Path

from il_morph.commands import main
from tests.cli import Data, training_arguments

TINY = ["--engine=native", "--input=8", "--feat-input=4", "--enc-hidden=8", "--dec-hidden=8", "--epochs=1"]
RUNS = {
    "transducer": [
        ["--il-beta=0", *TINY], ["--il-beta=0", "--batch-size=3", "--optimization=ADAM", "--l2=0.1", *TINY],
        ["--vanilla-lstm", "--optimization=SGD", "--il-loss=mse", *TINY],
        ["--mode=mrt", "--pretrain-epochs=1", "--align-cls", "--sample-size=3", *TINY],
    ],
    "nwfst": [["--model=nwfst", "--epochs=1"]],
}

if __name__ == "__main__":
    kind = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        data = Data(Path(folder))
        for number, flags in enumerate(RUNS[kind]):
            main(training_arguments(data, Path(folder, str(number)), flags, "plain" if kind == "nwfst" else "", ()))
