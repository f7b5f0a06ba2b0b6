"""A small data set to try il-morph on: inflected Turkish nouns, written by experiments/tools/sample.py."""
