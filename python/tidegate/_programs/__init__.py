"""A scenario's gates for other programs: as commands, around a shell, and for a transport in Python."""
