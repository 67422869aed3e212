"""Studies: every point of the axes, many replications, means with intervals."""
