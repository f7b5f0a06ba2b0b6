"""The sections that measure in this process: each prints its table and returns what is required of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cited import SYSTEMS, training_and_decoding
from datasets import FINNISH, RUSSIAN, DataSet
from growth import SIZES, decoding_by_alphabet, training_by
from phases import PHASES, phases
from speed import CA_D, CA_R, ENGINES, LONG, STOCK, Bench, Cells
from substitute import PAIRS, learning_of_costs, twins
from tables import Requirement, Row, at_least, at_most, print_table

TRAINING_RATIOS = [(STOCK, "dynet"), ("dynet", "numba"), ("dynet", "numpy")]
BATCH_SIZES = (1, 5, 32)

# How many times as fast as DyNet: data, column, row, and the epochs that count (short or long).
FASTER = [
    (RUSSIAN, "numba", "CA-D", False, 3.2),
    (RUSSIAN, "numba", "CA-R", True, 2.5),
    (RUSSIAN, "numba", "CA", False, 3.2),
    (RUSSIAN, "numba", "CA-MRT", False, 2.5),
    (RUSSIAN, "numpy", "CA-D", False, 1.4),
    (FINNISH, "numba", "CA-D", False, 2.8),
]
MOST_PER_BATCH = {"CA-D, batch size 5": 3.0, "CA-D, batch size 32": 1.8}  # ms per sample
MOST_OF_TWINS = 1.3  # times CA-D
MOST_SECONDS_OF_EM = 5


def report_sections(chosen: Sequence[str], folder: Path, numbers: dict[str, int]) -> list[Requirement]:
    """Those that are chosen, in this order."""
    print("\nCPU time of one thread. Stock: the same network on DyNet's LSTM builders; numba, numpy: native engine.")
    checks: list[Requirement] = []
    for data in (RUSSIAN, FINNISH):
        checks += report_data(data, chosen, folder, numbers)
    if "growth" in chosen:
        checks += report_growth(numbers["--samples"])
    return checks


def report_data(data: DataSet, chosen: Sequence[str], folder: Path, numbers: dict[str, int]) -> list[Requirement]:
    """The sections of a data set."""
    epochs = numbers["--epochs"]
    measured = {
        "training": lambda bench: report_training(data, bench, epochs, numbers["--last-epoch"]),
        "batches": lambda bench: report_batches(bench, 2 * epochs),
        "phases": lambda bench: report_phases(bench, 2 * epochs),
        "decoding": lambda bench: report_decoding(data, bench),
        "substitute": lambda bench: report_substitute(data, folder, numbers),
        "cited": lambda bench: report_cited(data, folder, numbers),
    }
    names = [name for name in measured if name in chosen and (data == RUSSIAN or name in ("training", "decoding"))]
    if not names:
        return []
    bench = Bench(data.train(folder)[:numbers["--lines"]], data.dev(folder)[:numbers["--inputs"]], data.format)
    bench.load_kernels()
    print(f"\n{data.name}: {len(bench.train)} samples, {len(bench.vocabulary.actions)} actions, "
          f"{bench.vocabulary.number_of_slots + 1} features", flush=True)
    return [check for name in names for check in measured[name](bench)]


# training

def report_training(data: DataSet, bench: Bench, epochs: int, last_epoch: int) -> list[Requirement]:
    learners = bench.training(epochs)
    first = {name: first_epoch(name, cells) for name, cells in learners.items()}
    short = {name: later_epochs(name, cells, epochs) for name, cells in learners.items()}
    rows = [row for name in learners for row in (first[name], short[name])]
    print_table("training, ms per sample", (STOCK, *ENGINES), TRAINING_RATIOS, rows)
    long = {name: later_epochs(name, cells, last_epoch)
            for name, cells in bench.train_on(learners, last_epoch).items()}
    print_table("the same, CA-D and CA-R go on", LONG, [LONG], list(long.values()))
    ca_r = long["CA-R"].values["dynet"] / long["CA-D"].values["dynet"]
    return [
        at_least(f"{data.name}: CA-D training, stock / dynet", short["CA-D"].ratio(STOCK, "dynet"), 1.4),
        at_most(f"{data.name}: dynet, CA-R after its first epoch / CA-D", ca_r, 1.6),
        *(faster_than_dynet(data, column, (long if is_long else short)[name], bound)
          for of, column, name, is_long, bound in FASTER if of == data),
    ]


def first_epoch(name: str, cells: Cells) -> Row:
    return Row(f"{name}, first epoch", {column: timed.first for column, timed in cells.items()})


def later_epochs(name: str, cells: Cells, last: int) -> Row:
    return Row(f"{name}, epochs 1 to {last}", {column: timed.later(last) for column, timed in cells.items()})


def faster_than_dynet(data: DataSet, column: str, row: Row, bound: float) -> Requirement:
    return at_least(f"{data.name}: {row.name}, dynet / {column}", row.ratio("dynet", column), bound)


def report_batches(bench: Bench, epochs: int) -> list[Requirement]:
    rows = {name: Row(name, {column: timed.later() for column, timed in cells.items()})
            for name, cells in bench.batches(BATCH_SIZES, epochs).items()}
    print_table("batches, ms per sample", ("numba", "numpy"), [], list(rows.values()))
    return [at_most(f"{name}, numba, ms", rows[name].values["numba"], bound) for name, bound in MOST_PER_BATCH.items()]


def report_phases(bench: Bench, epochs: int) -> list[Requirement]:
    found = {name: phases(bench, settings, epochs) for name, settings in (("CA-D", CA_D), ("CA-R", CA_R))}
    rows = [Row(name, {**times, "sum": sum(times.values())}) for name, times in found.items()]
    print_table("numba, phases, ms per sample", (*PHASES, "sum"), [], rows)
    return []


# decoding

def report_decoding(data: DataSet, bench: Bench) -> list[Requirement]:
    rows = {search: Row(search, {"1 by 1": found.single, "bulk": found.bulk},
                        f"{found.same} of {len(bench.dev)} outputs the same")
            for search, found in bench.decoding().items()}
    print_table("decoding, ms per input", ("1 by 1", "bulk"), [("1 by 1", "bulk")], list(rows.values()))
    return [at_least(f"{data.name}: {search} decoding, stock one by one / in bulk", row.ratio("1 by 1", "bulk"), 12)
            for search, row in rows.items()]


# SUBSTITUTE

def report_substitute(data: DataSet, folder: Path, numbers: dict[str, int]) -> list[Requirement]:
    """Batches of 1 and 5: the presets of later systems have batches of 5."""
    train, checks = data.train(folder)[:numbers["--lines"]], []
    for size in (1, 5):
        rows = [Row(name, {column: timed.later() for column, timed in cells.items()})
                for name, cells in twins(train, data.format, size, 2 * numbers["--epochs"]).items()]
        print_table(f"batch size {size}, ms per sample", LONG, [LONG], rows)
        checks += [at_most(f"{row.name}, batch size {size}, {column} / CA-D",
                           row.values[column] / rows[0].values[column], MOST_OF_TWINS)
                   for row in rows[1:] for column in LONG]
    name, seconds = learning_of_costs(train, folder)
    print_table(f"ten rounds of EM, {PAIRS} pairs", ("seconds",), [], [Row(name, {"seconds": seconds})])
    return [*checks, at_most(f"learning costs from {PAIRS} pairs, s", seconds, MOST_SECONDS_OF_EM)]


# cited systems

def report_cited(data: DataSet, folder: Path, numbers: dict[str, int]) -> list[Requirement]:
    train, dev = data.train(folder)[:numbers["--lines"]], data.dev(folder)[:numbers["--inputs"]]
    rows = [Row(name, training_and_decoding(preset, train, dev, data.format, numbers["--epochs"]))
            for name, preset in SYSTEMS.items()]
    print_table("cited, ms per sample or input", ("dynet", "numba", "numpy", "greedy"), [], rows)
    return []


# growth

def report_growth(samples: int) -> list[Requirement]:
    print("\ngenerated words of 10 characters, 30 symbols, 5 features, but for what a table varies", flush=True)
    tables = {quantity: growth_rows(quantity, samples) for quantity in SIZES}
    alphabet = SIZES["symbols"]
    beam = decoding_by_alphabet(alphabet)
    print_table("beam 4, ms per input", ("bulk",), [],
                [Row(f"{size} symbols", {"bulk": milliseconds}) for size, milliseconds in beam.items()])
    few, many = (tables["symbols"]["CA-R", size].values for size in (alphabet[0], alphabet[-1]))
    return [at_most(f"CA-R with {column}, {alphabet[-1]} symbols / {alphabet[0]}", many[column] / few[column], 3)
            for column in LONG]


def growth_rows(quantity: str, samples: int) -> dict[tuple[str, int], Row]:
    """CA-D and CA-R by one quantity, printed."""
    rows = {(name, size): Row(f"{name}, {size} {'characters' if quantity == 'length' else quantity}",
                              {column: timed.later() for column, timed in cells.items()})
            for (name, size), cells in sorted(training_by(quantity, SIZES[quantity], samples).items())}
    print_table(f"by {quantity}, ms per sample", LONG, [LONG], list(rows.values()))
    return rows
