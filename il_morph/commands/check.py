"""Check data files before training: duplicates, contradictions, features spelt in two ways, odd characters.

Usage:
  il-morph check [options] FILE...

The first FILE is the training data; the others (dev, test) are checked by themselves and against it.
Each finding has its lines. Nothing is changed. The exit code is 0 whatever is found.

Options:
  --format=NAME          text, json (a list of objects), or html (a page; needs Jinja2) (default text)
  --output=FILE          write to FILE; - is standard output (default: standard output)
  --sigm2017format       columns are input, output, features (SIGMORPHON 2017)
  --no-feat-format       columns are input, anything or nothing, output; or input, output
  --columns=LIST         the columns, for example input,features,output; - skips one; without these
                         flags il-morph recognises the columns
  --feature-separator=X  the separator between features (default: recognised)
  --force                overwrite the file of --output
  -h --help              show this text
"""
from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from il_morph.commands.arguments import choice, optional, parse_arguments, read_options_of, refuse_empty
from il_morph.commands.streams import write_out
from il_morph.data.checking import Finding, check_all, listed
from il_morph.data.encodings import name_of
from il_morph.data.formats import Data, ReadOptions, parse_data
from il_morph.errors import printable
from il_morph.files import STREAM, read_bytes, refuse_data_as_output, refuse_to_overwrite, write_output
from il_morph.report.check_page import check_page


def run(argv: list[str]) -> int:
    args = parse_arguments(__doc__, argv)
    refuse_empty(args, "--output")
    layout, output = optional(choice, args, "--format", "text", ("text", "json", "html")), args["--output"] or STREAM
    if output != STREAM:
        refuse_to_overwrite(output, args["--force"])
        refuse_data_as_output(output, args["FILE"])
    files = read_files(args["FILE"], read_options_of(args))
    findings = check_all(files)
    text = {"text": as_text, "json": as_json, "html": check_page}[layout](files, findings)
    if output == STREAM:
        write_out(text)
    else:
        write_output(output, text)
    return 0


def read_files(paths: Sequence[str], options: ReadOptions) -> list[Data]:
    """All files, the later ones in the format of the first."""
    files: list[Data] = []
    options = replace(options, skip_blank=True, some_outputs=True)
    for path in paths:
        files.append(parse_data(read_bytes(path), name_of(path), options))
        if options.format is None and options.columns is None:
            options = replace(options, expected=files[0].format, because=f"{files[0].name} has")
    return files


def as_text(files: Sequence[Data], findings: Sequence[Sequence[Finding]]) -> str:
    blocks = []
    for file, found in zip(files, findings):
        lines = [f"{each.kind}: {': '.join(filter(None, (each.where, each.what)))}" for each in listed(found)]
        blocks.append("\n  ".join([f"{file.name}: {file.description}", *(lines or ["nothing odd"])]))
    return "\n\n".join(map(printable_lines, blocks)) + "\n"


def printable_lines(block: str) -> str:
    return "\n".join(map(printable, block.split("\n")))


def as_json(files: Sequence[Data], findings: Sequence[Sequence[Finding]]) -> str:
    listed = [{"file": file.name, "read": file.description, "lines": len(file.samples),
               "findings": [each.as_dict() for each in found]} for file, found in zip(files, findings)]
    return json.dumps(listed, ensure_ascii=False, indent=1) + "\n"
