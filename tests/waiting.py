"""Waiting for what another process does."""
import time

HANGING = 1200  # seconds: a limit for what hangs, far from what is slow on a busy machine


def wait_until(condition, process=None):
    """What a condition gives once it is true; a process that should bring it about must not end before."""
    deadline = time.monotonic() + HANGING
    while True:
        value = condition()
        if value:
            return value
        assert process is None or process.poll() is None, "the process ended before"
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)
