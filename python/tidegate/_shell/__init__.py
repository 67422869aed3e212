"""A program behind the gates: what it is told when it begins, and what remains of its packets."""
