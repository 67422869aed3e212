"""Comparisons of engines: theory, simulator and kernel on one scenario."""
