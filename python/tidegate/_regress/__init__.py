"""A scenario beside a measurement: what agrees, and what does not."""
