"""Samples, the formats they are stored in, and reading them."""
