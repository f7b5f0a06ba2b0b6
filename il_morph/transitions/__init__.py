"""Transition systems: what actions do, the expert, and aligners that make gold sequences."""
