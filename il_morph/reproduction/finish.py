"""The steps after the runs: ensembles if the paper reports them, then our figures beside the paper's."""
from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from il_morph.files import write_atomically
from il_morph.reproduction.ensembles import make_ensembles
from il_morph.reproduction.paper_tables import PaperTable
from il_morph.reproduction.run_list import read_runs
from il_morph.reproduction.runs import Run, grouped
from il_morph.run_folder import ResultsTree
from il_morph.runs.locks import FileLock
from il_morph.runs.processes import environment, il_morph


def finish_table(table: PaperTable, data: Path, results: ResultsTree) -> int:
    """Vote, write the table and print it. A lock admits one process at a time, so that the last one sees all runs."""
    with FileLock(results.lock):
        if table.report == "ensemble":
            make_ensembles(table, data, results)
        how = [] if has_all_languages(table, read_runs(table, results.root)) else ["--by-language"]
        done = subprocess.run(il_morph("table", *how, table.name, str(results.root)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, env=environment())
        if done.returncode:
            return done.returncode
        for path in results.leftovers():
            path.unlink(missing_ok=True)
        write_atomically(results.table, done.stdout)
    sys.stdout.write(done.stdout.decode("utf-8"))
    return 0


def has_all_languages(table: PaperTable, runs: Sequence[Run]) -> bool:
    """Does every system that was run have runs on all languages? Otherwise its mean over languages means little."""
    systems = grouped(runs, lambda run: (run.setting, run.model))
    return all({run.language for run in own} == {*table.languages_of(setting)}
               for (setting, _), own in systems.items())
