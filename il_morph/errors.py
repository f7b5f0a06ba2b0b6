"""The error that is the user's to mend."""


class InputError(Exception):
    """Something the user gave is wrong: the message says what, where, and what to do."""
