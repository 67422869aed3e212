"""A scenario's link as commands of other tools: tc of Linux, and Mahimahi."""
