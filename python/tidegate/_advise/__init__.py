"""Advice: the size of a queue or a pool, and the setting of a gate that follows a rate."""
