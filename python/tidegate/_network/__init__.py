"""Transports in Python between the gates of a scenario."""
