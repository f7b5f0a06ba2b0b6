"""Scores of predictions, and votes."""
