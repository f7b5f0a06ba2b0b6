"""MED and LEM: GRU encoder–decoders with attention (Bahdanau et al. 2015), one architecture with two presets."""
