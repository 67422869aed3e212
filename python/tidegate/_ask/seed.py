"""Where a seed comes from. The only place that invents one."""

from __future__ import annotations

import sys

from tidegate._base.limits import most


def other_seed(seed: int, further: int) -> int:
    """Return the seed that stands so much further; behind the last comes 0."""
    return (seed + further) % (most("seed") + 1)


def choose(asked: int | None, in_file: int | None) -> int:
    """Return the seed of a run: as asked, else as the scenario says, else invented and printed.

    An invented seed goes to standard error, so that the run can be repeated, and is
    stored with the result like any other.
    """
    if asked is not None:
        return asked
    if in_file is not None:
        return in_file
    # Brings OpenSSL along, which few runs need.
    import secrets

    seed = secrets.randbelow(1_000_000_000)
    sys.stderr.write(f"seed {seed} (chosen at random; give this seed to repeat the result)\n")
    return seed
