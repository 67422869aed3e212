"""Expectations of a scenario, for continuous integration: what must hold, and whether it does."""
