"""SOFT: an encoder–decoder with soft attention."""
