"""Comparisons: one scenario with some keys varied, over the same network."""
