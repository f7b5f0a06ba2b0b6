"""Traces, reports and pages that show what a model does."""
