"""Whether a run is what was expected, or what was measured."""
