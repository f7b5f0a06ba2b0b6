"""HACM: hard monotonic attention with a gate to copy."""
