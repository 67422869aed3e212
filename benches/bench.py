"""Instructions, speed and results beside the peers that are installed; see README.md here.

bench.py [instructions] [speed] [results] [studies] [gcra] [cells] [feedback] [--rounds N] [--long]
"""

from __future__ import annotations

import argparse

import cells
import cost
import feedback
import limiter
import programs
import results
import speed
import studies

PARTS = ("instructions", "speed", "results", "studies", "gcra", "cells", "feedback")


def main() -> None:
    """Print one table after the other."""
    parser = argparse.ArgumentParser(description="instructions, speed and results beside the peers")
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is named"
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of the alternating run")
    parser.add_argument(
        "--long", action="store_true", help="longer runs, ns-3 in every round, more variations"
    )
    args = parser.parse_args()
    unknown = set(args.parts) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    if args.rounds < 1:
        parser.error("one round at least")
    parts = args.parts or PARTS
    if "studies" in parts:
        studies.measure(rounds=args.rounds, long=args.long)
    if "gcra" in parts:
        limiter.measure(rounds=args.rounds)
    if "cells" in parts:
        cells.measure(rounds=args.rounds)
    if "feedback" in parts:
        feedback.measure(rounds=args.rounds)
    if {*parts} <= {"studies", "gcra", "cells", "feedback"}:
        return
    ours = programs.build_ours()
    if "instructions" in parts:
        cost.measure(ours, long=args.long)
    if "speed" in parts:
        speed.measure(ours, rounds=args.rounds, slow_rounds=args.rounds if args.long else 1)
    if "results" in parts:
        results.measure(ours, long=args.long)


if __name__ == "__main__":
    main()
