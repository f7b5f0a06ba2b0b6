"""Waiting for what another process does."""
import time

HANGING = 1800  # seconds: a limit for what hangs, far from what is slow on a busy machine


def wait_until(condition):
    """What a condition gives once it is true."""
    deadline = time.monotonic() + HANGING
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.02)
