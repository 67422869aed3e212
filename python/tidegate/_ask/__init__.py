"""What is to be run: scenarios, their sources, seeds and varied keys."""
