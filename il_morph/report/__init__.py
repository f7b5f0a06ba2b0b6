"""Traces, reports and pages: what a model does, to look at."""
