"""Show hallucinated samples, as `il-morph train --augment` makes them of its training data.

Usage:
  il-morph augment [options] FILE

FILE is training data; - is standard input. A hallucinated sample is a real pair with another stem: what
input and output share is redrawn, except next to an edit. Features and edits stay.

Options:
  --number=N            how many samples (default 10)
  --dynet-seed=N        seed of what is drawn (default 1)
  --sigm2017format      columns are input, output, features;separated;by;semicolons
  --no-feat-format      columns are input, anything, output, or input, output: no features
  --columns=LIST        the columns, for example input,features,output; - skips one; without these flags
                        il-morph recognises the columns
  --feature-separator=X  the separator between features, for example ";" (default: recognised)
  --unicode=FORM        as-is, nfc, nfd or nfd-nfc: normalise the data, as in `il-morph train` (default as-is)
  --input-separator=X   the separator between the symbols of inputs, for example " " (default: none, characters)
  --output-separator=X  the separator between the symbols of outputs
  --boundary=X          what stands between the segments of outputs, for example " @@": one symbol
  --format=NAME         text, with the real pair in brackets; or tsv: input, output, features, real input,
                        real output (default text)
"""

from __future__ import annotations

import logging
import sys
from random import Random

from il_morph.commands.arguments import choice, integer, optional, parse_arguments, read_options_of
from il_morph.data.formats import Sample, read_data
from il_morph.data.hallucination import Fake, Hallucination
from il_morph.data.symbols import Symbols
from il_morph.errors import InputError
from il_morph.training.augmentation import MOST_FAKES

log = logging.getLogger(__name__)


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    options, tsv = read_options_of(args), optional(choice, args, "--format", "text", ("text", "tsv")) == "tsv"
    number, seed = optional(integer, args, "--number", 10, 1, MOST_FAKES), optional(integer, args, "--dynet-seed", 1, 0)
    samples = read_data(args["FILE"], options, need_output=True).samples
    symbols = Symbols(options.separators).covering(samples)
    fakes = Hallucination([symbols.encoded(sample) for sample in samples], symbols).draw(number, Random(seed))
    if not fakes:
        raise InputError(f"{args['FILE']}: no pair shares enough characters between input and output to make another "
                         "one of it")
    if len(fakes) < number:
        log.warning("%d samples instead of %d: most of what is drawn equals a real one", len(fakes), number)
    sys.stdout.writelines((as_row if tsv else as_text)(fake, symbols) + "\n" for fake in fakes)
    return 0


def as_row(fake: Fake, symbols: Symbols) -> str:
    return "\t".join([*written(fake.sample, symbols), fake.sample.tag, *written(fake.source, symbols)])


def as_text(fake: Fake, symbols: Symbols) -> str:
    (source, target), real, tag = written(fake.sample, symbols), written(fake.source, symbols), fake.sample.tag
    return f"{source}{f' + {tag}' if tag else ''} → {target} ({' → '.join(real)})"


def written(sample: Sample, symbols: Symbols) -> tuple[str, str]:
    """Input and output as they stand in files."""
    return symbols.input(sample.input), symbols.output(sample.target)
