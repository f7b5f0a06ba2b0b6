"""Train runs on this machine, several at a time, each in a process of its own."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Optional

from il_morph.errors import InputError
from il_morph.runs.display import Standing, display
from il_morph.runs.eta import AtWork, Experience, read_pace, share_done, time_left
from il_morph.runs.processes import Busy, ending, start_training
from il_morph.runs.spec import Job, Task

POLL_SECONDS = 0.2
GRACE_SECONDS = 10.0
SAMPLED = 200  # at most this many finished runs are used to estimate the remaining time
SOME_FAILED, STOPPED = 1, 130  # exit codes
STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Stopped(Exception):
    """The user, or the system, has asked to stop."""


def train_jobs(jobs: Sequence[Job], finished: Sequence[Task], slots: Optional[int]) -> int:
    """Train `slots` jobs at a time, by default one for each core. Prints the failures and returns the exit code."""
    if not jobs:
        return 0
    experience = Experience()
    for task in finished[::len(finished) // SAMPLED + 1]:
        experience.add(task)
    try:
        failures = Pool(jobs, slots or cores(), experience).run()
    except Stopped:
        print("stopped; the same command continues", file=sys.stderr)
        return STOPPED
    for failure in failures:
        print(failure, file=sys.stderr)
    return SOME_FAILED if failures else 0


def cores() -> int:
    """The number of cores that this process may use, or of all cores if the system does not tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Worker:
    """A job in progress: trains its runs one after the other, each in a process of its own, until none is left."""

    def __init__(self, job: Job):
        self.left = list(job)
        self.process: Optional[subprocess.Popen] = None
        self.waiting_for = ""
        self.started = time.monotonic()
        self.failure = ""

    @property
    def task(self) -> Task:
        return self.left[0]

    def go_on(self) -> None:
        """Do what can be done without waiting."""
        try:
            while self.left and not self.failure and not self._trains():
                pass
        except Busy as busy:
            self.waiting_for = str(busy)
        except InputError as error:
            self.failure = f"failed: {error}"

    def _trains(self) -> bool:
        """Start the current run if it is not running yet; False when it is over."""
        if self.process is None:
            self.process = start_training(self.task, wait=False, own_group=True)
            self.waiting_for, self.started = "", time.monotonic()
        code = self.process.poll() if self.process else 0
        if code is None:
            return True
        self.process = None
        if code:
            self.failure = f"failed with {ending(code)}, see {self.task.folder.train_log}"
        else:
            self.left.pop(0)
        return False

    def end(self, number: int) -> None:
        """Send a signal to the training and to the processes that it has started."""
        if self.process and self.process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):  # it has ended meanwhile
                os.killpg(self.process.pid, number)

    def at_work(self) -> AtWork:
        return AtWork(self.task, read_pace(self.task.folder), time.monotonic() - self.started)


class Pool:
    """Workers that train `slots` jobs at a time. A failure does not stop other jobs and is reported at the end."""

    def __init__(self, jobs: Sequence[Job], slots: int, experience: Experience):
        self.jobs, self.slots, self.experience = jobs, slots, experience
        self.queue = deque(range(len(jobs)))
        self.workers: dict[int, Worker] = {}
        self.finished = 0
        self.failures: dict[int, str] = {}
        self.display = display()

    def run(self) -> list[str]:
        """Do all jobs. Returns the failures in the order of the jobs."""
        with signals_noted() as noted:
            try:
                while not noted and (self.queue or self.workers):
                    self._start()
                    self._show()
                    time.sleep(POLL_SECONDS)
                    self._collect()
            finally:
                self._end()
        self.display.close(self._standing())
        if noted:
            raise Stopped
        return [failure for _, failure in sorted(self.failures.items())]

    def _start(self) -> None:
        while self.queue and len(self.workers) < self.slots:
            worker = self._next_worker()
            self._note(self.queue.popleft(), worker)

    def _next_worker(self) -> Worker:
        """A worker for the first job in the queue that no other process trains; jobs before it go to the end."""
        for _ in self.queue.copy():
            worker = Worker(self.jobs[self.queue[0]])
            worker.go_on()
            if not worker.waiting_for:
                return worker
            self.queue.rotate(-1)
        return Worker(self.jobs[self.queue[0]])

    def _collect(self) -> None:
        for number, worker in list(self.workers.items()):
            worker.go_on()
            self._note(number, self.workers.pop(number))

    def _note(self, number: int, worker: Worker) -> None:
        if worker.failure:
            self.failures[number] = worker.failure
        elif worker.left:
            self.workers[number] = worker
        else:
            self.finished += 1
            self.experience.add(self.jobs[number][-1])

    def _end(self) -> None:
        """End all trainings that still run: SIGTERM first, and SIGKILL after a grace period."""
        deadline = time.monotonic() + GRACE_SECONDS
        for worker in self.workers.values():
            worker.end(signal.SIGTERM)
        for worker in self.workers.values():
            if worker.process:
                try:
                    worker.process.wait(max(deadline - time.monotonic(), 0))
                except subprocess.TimeoutExpired:
                    worker.end(signal.SIGKILL)
                    worker.process.wait()
        self.workers.clear()

    def _show(self) -> None:
        if self.display.due((self.finished, len(self.workers), len(self.failures))):
            self.display.show(self._standing())

    def _standing(self) -> Standing:
        at_work = {number: worker.at_work() for number, worker in self.workers.items()}
        over = self.finished + len(self.failures)
        later = [*map(self.jobs.__getitem__, self.queue), *(worker.left[1:] for worker in self.workers.values())]
        return Standing(
            total=len(self.jobs), finished=self.finished, failed=len(self.failures),
            running=[_told(self.workers[number], each) for number, each in at_work.items()],
            done=over + sum(share_done(each, self.experience) for each in at_work.values()),
            left=time_left(list(at_work.values()), later, self.slots, self.experience))


@contextmanager
def signals_noted() -> Iterator[list[int]]:
    """Collect signals that ask to stop, except signals that are ignored (because of nohup, for example)."""
    noted: list[int] = []
    old = {number: signal.getsignal(number) for number in STOPPING}
    old = {number: handler for number, handler in old.items() if handler not in (signal.SIG_IGN, None)}
    for number in old:
        signal.signal(number, lambda received, frame: noted.append(received))
    try:
        yield noted
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _told(worker: Worker, at_work: AtWork) -> str:
    """One line about a run in progress."""
    if worker.waiting_for:
        return f"{worker.task.title}: {worker.waiting_for} trains it"
    if not at_work.pace:
        return f"{worker.task.title}: starts"
    pace, most = at_work.pace, worker.task.spec.training.epochs
    return f"{worker.task.title}: epoch {pace.epochs} of at most {most}, dev accuracy {pace.dev_accuracy:.1f}"
