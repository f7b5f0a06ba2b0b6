"""What comes after the runs: ensembles where the paper has them, then ours beside the paper's."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from il_morph.files import write_atomically
from il_morph.reproduction.ensembles import make_ensembles
from il_morph.reproduction.paper_tables import PaperTable
from il_morph.run_folder import ResultsTree
from il_morph.runs.locks import FileLock
from il_morph.runs.processes import environment, il_morph


def finish_table(table: PaperTable, data: Path, results: ResultsTree) -> int:
    """Vote, write the table and print it; one process at a time, so that the last one has seen everything."""
    with FileLock(results.lock):
        if table.report == "ensemble":
            make_ensembles(table, data, results)
        done = subprocess.run(il_morph("table", table.name, str(results.root)), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, env=environment())
        if done.returncode:
            return done.returncode
        for path in results.leftovers():
            path.unlink(missing_ok=True)
        write_atomically(results.table, done.stdout)
    sys.stdout.write(done.stdout.decode("utf-8"))
    return 0
