"""Runs: a run as a value, its folder, record and lock, the workers that train several runs, and their vote."""
