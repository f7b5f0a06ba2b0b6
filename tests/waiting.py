"""Waiting for what another process does."""
import time

HANGING = 1800  # seconds: a limit for what hangs, far from what is slow on a busy machine


def wait_until(condition, process=None):
    """What a condition gives once it is true, which it does not become after the end of `process`."""
    deadline = time.monotonic() + HANGING
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "it did not come to pass"
        assert process is None or process.poll() is None, "the process has ended"
        time.sleep(0.02)
