"""Checks `docs/specification.md` row by row: a row's code is edited, and a test of the row has to fail."""
