"""Errors, text, intervals, arguments and progress: what every other folder may use."""
