"""The jobs of a table on a cluster with Slurm: one array for the runs, and a job after it for ensembles and table.

Slurm's jobs run this module: with the arguments `work LIST` it does the share of one task of the array, with
`finish LIST` it makes ensembles and table. LIST is a JSON file with everything that the jobs need.
"""
from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Optional

from il_morph.errors import InputError, errors_for_people
from il_morph.files import read_regular, write_atomically
from il_morph.reproduction.finish import finish_table
from il_morph.reproduction.paper_tables import load_table
from il_morph.reproduction.plan import first_unfinished
from il_morph.run_folder import ResultsTree
from il_morph.runs.processes import environment, make_folder, python, train_in_order
from il_morph.runs.spec import Job, Task

TASK = "SLURM_ARRAY_TASK_ID"
DEFAULT_MAX_ARRAY_SIZE = 1001  # Slurm's default


@dataclass(frozen=True)
class JobList:
    """The data that Slurm's jobs need, kept in a JSON file."""

    table: str
    data: str
    results: str
    tasks: int  # of the array; task n does the jobs n, n + tasks, n + 2 * tasks, …
    jobs: list[Job]

    def save(self, path: Path) -> None:
        write_atomically(path, json.dumps(asdict(self), indent=1) + "\n")

    @staticmethod
    def load(path: str) -> JobList:
        try:
            content = json.loads(read_regular(path))
            jobs = [[Task.from_dict(task) for task in job] for job in content.pop("jobs")]
            return JobList(**content, jobs=jobs)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"{path} is not a list of jobs written by il-morph run --slurm ({error!r})") from None


def submit(table: str, data: Path, results: ResultsTree, jobs: Sequence[Job], at_a_time: Optional[int],
           options: Sequence[str]) -> int:
    """Submit the array and the job after it. Return 0, or the exit code of the sbatch that fails."""
    if shutil.which("sbatch") is None:
        raise InputError("--slurm needs sbatch, the command of Slurm, and it is not here")
    make_folder(results.slurm)
    tasks = min(len(jobs), max_array_size())
    path = results.slurm / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.json"
    JobList(table, str(data), str(results.root), tasks, list(jobs)).save(path)

    common = [*options, "--parsable", f"--job-name=il-morph-{table}", "--ntasks=1", "--cpus-per-task=1"]
    throttle = f"%{at_a_time}" if at_a_time else ""
    array = _sbatch([*common, f"--array=0-{tasks - 1}{throttle}"],
                    _script("work", path, '"$SLURM_ARRAY_JOB_ID"_"$SLURM_ARRAY_TASK_ID".out'))
    if array.returncode:
        return array.returncode
    print(f"job array {_number(array)}: {tasks} tasks, {len(jobs)} jobs", flush=True)
    last = _sbatch([*common, f"--dependency=afterany:{_number(array)}"],
                   _script("finish", path, '"$SLURM_JOB_ID"-table.out'))
    if last.returncode:
        return last.returncode
    print(f"job {_number(last)}: ensembles and table, to {results.table}")
    return 0


def max_array_size() -> int:
    """The number of tasks that this Slurm allows in an array."""
    try:
        shown = subprocess.run(["scontrol", "show", "config"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace").stdout
    except OSError:
        shown = ""
    rows = [line.split() for line in shown.splitlines()]
    sizes = [int(row[2]) for row in rows if row[:2] == ["MaxArraySize", "="] and row[2:] and row[2].isdecimal()]
    return next(filter(None, sizes), DEFAULT_MAX_ARRAY_SIZE)


def work(path: str) -> int:
    """Do the share of this array task, one job after the other."""
    jobs = JobList.load(path)
    task = os.environ.get(TASK, "")
    if not task.isdecimal():
        raise InputError(f"{TASK} is not set: this is for the tasks of a job array, which Slurm starts")
    return int(any(_fails(job) for job in jobs.jobs[int(task)::jobs.tasks]))


def finish(path: str) -> int:
    """Report the jobs that are not finished, then make ensembles and table."""
    jobs = JobList.load(path)
    missing = [task for task in map(first_unfinished, jobs.jobs) if task]
    for task in missing:
        print(f"not finished, see {task.folder.train_log}", file=sys.stderr)
    code = finish_table(load_table(jobs.table), Path(jobs.data), ResultsTree(jobs.results))
    return code or int(bool(missing))


def _fails(job: Job) -> bool:
    """Train, and return whether that fails. A job that cannot even start must not stop the jobs after it."""
    try:
        return train_in_order(job) != 0
    except InputError as error:
        print(f"failed: {error}", file=sys.stderr)
        return True


def _sbatch(options: Sequence[str], script: str) -> subprocess.CompletedProcess:
    """Run sbatch. Its error messages go to standard error."""
    return subprocess.run(["sbatch", *options, "--output=/dev/null", f"--wrap={script}"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, encoding="utf-8", errors="replace", env=environment())


def _number(submitted: subprocess.CompletedProcess) -> str:
    """The job number from the output of `sbatch --parsable`, which may add the name of the cluster."""
    return submitted.stdout.strip().split(";")[0]


def _script(what: str, path: Path, output: str) -> str:
    """A command for any /bin/sh. It redirects its own output: sbatch's --output gives some characters a meaning."""
    command = shlex.join(python(__spec__.name, what, str(path)))
    return f"exec {command} >>{shlex.quote(str(path.parent))}/{output} 2>&1"


def main(argv: Sequence[str]) -> int:
    commands = {"work": work, "finish": finish}
    if len(argv) != 2 or argv[0] not in commands:
        raise InputError(f"usage: python -m {__spec__.name} work|finish LIST")
    return commands[argv[0]](argv[1])


if __name__ == "__main__":
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    with errors_for_people("il-morph"):
        sys.exit(main(sys.argv[1:]))
