"""How much memory DyNet needs.

DyNet divides its memory into four equal pools. When checkpoints (our roll-outs and samples) or
automatic batching are in use, a pool that has to grow ends the whole process, so the pools must be
large enough from the start.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

from il_morph.errors import InputError
from il_morph.model.architectures import architecture_of
from il_morph.model.settings import TrainingSettings
from il_morph.model.vocabulary import Vocabulary
from il_morph.transitions.actions import MAX_ACTIONS

POOLS, FLOAT, MEGABYTE = 4, 4, 2**20
NODES_PER_STEP = 28  # vectors of hidden size that one step of an LSTM layer puts into the graph, at most
MARGIN = 1.3


def megabytes_needed(vocabulary: Vocabulary, settings: TrainingSettings, longest_input: int, samples: int,
                     autobatch: bool = False) -> int:
    """Megabytes that are enough for the longest input and for sequences that reach the limit of actions."""
    parameters = architecture_of(vocabulary).number_of_parameters
    rows = rows_of_sample(settings, vocabulary.table.most_moves, autobatch)
    graph = parameters + min(settings.batch_size, samples) * sample_floats(vocabulary, rows, longest_input)
    pool = max(graph, 4 * parameters)  # values, gradients and two averages of ADADELTA or ADAM
    return ceil(MARGIN * POOLS * pool * FLOAT / MEGABYTE)


def sample_floats(vocabulary: Vocabulary, rows: int, longest_input: int) -> int:
    """The number of floats in one sample's graph, in which `rows` sequences are decoded."""
    model = vocabulary.settings
    longest_input += vocabulary.number_of_slots if model.kind.reads_features else 0
    encoder = 2 * (longest_input + 2) * model.enc_layers * (NODES_PER_STEP * model.enc_hidden + model.input)
    step = (model.dec_layers * NODES_PER_STEP * model.dec_hidden + 2 * model.action_input + 2 * model.mlp
            + 5 * len(vocabulary.actions))
    step += model.kind.dynet_step_floats(model, longest_input + 2)
    return encoder + MAX_ACTIONS * step * rows


def rows_of_sample(settings: TrainingSettings, candidates: int, autobatch: bool) -> int:
    """How many sequences are in the graph of a sample at once, if a step has at most `candidates` candidates.

    With automatic batching, the memory of roll-outs is not freed before the next update: the roll-outs of all steps
    stay, each half as long as a whole sequence on average.
    """
    if settings.mode in ("mrt", "rl"):
        return 2 * (settings.sample_size + 1)  # sampled, then scored
    if autobatch and settings.mode == "il" and settings.il_beta < 1:
        return 1 + candidates * MAX_ACTIONS // 2
    return 1 + candidates


@contextmanager
def errors_of_pools() -> Iterator[None]:
    """Turn DyNet's error about a full pool into an InputError that says what to do."""
    try:
        yield
    except (ValueError, RuntimeError) as error:
        if "--dynet-mem" not in str(error):
            raise
        raise InputError("DyNet has used up its memory in one update: give it more with --dynet-mem (megabytes), lower "
                         "--batch-size or --sample-size, or leave out --dynet-autobatch") from error


def check_memory(mem: int, who: str) -> None:
    """Raise an InputError if this much memory is not available: DyNet would end the process."""
    pools = []
    try:
        for _ in range(POOLS):
            pools.append(mmap.mmap(-1, mem * MEGABYTE // POOLS))
    except (OSError, OverflowError, ValueError) as error:
        raise InputError(f"{who} {mem} MB, and this machine does not have so much memory free: "
                         "take smaller numbers") from error
    finally:
        for pool in pools:
            pool.close()
