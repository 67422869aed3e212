#!/usr/bin/env python3
"""Bytes that a trace lets through, counted without Tidegate: an independent check.

    deliverable_bytes.py FILE [--seconds S] [--bytes 1500] [--closed]

FILE is a Mahimahi file (milliseconds, one 1500-byte opportunity each) or a DRP file
(kbit/s, one value per step). Counts over [0, S), wrapping round the recording as often as
needed; without --seconds over one whole recording. --closed counts [0, S]: an opportunity
at S itself belongs to it. Standard library only; time and rates are exact fractions.
"""

import argparse
from fractions import Fraction
from pathlib import Path


def mahimahi(text: str, seconds: Fraction | None, size: int, closed: bool) -> int:
    """Count opportunities, one instant of one round after the other."""
    stamps = [int(line) for line in text.splitlines()]
    if seconds is None:
        return size * len(stamps)
    limit = seconds * 1000
    count = 0
    base = 0
    while base < limit or (closed and base == limit):
        for stamp in stamps:
            now = base + stamp
            if now < limit or (closed and now == limit):
                count += 1
        base += stamps[-1]
    return size * count


def drp(text: str, seconds: Fraction | None) -> int:
    """Integrate the rate step by step; whole bytes."""
    hertz = None
    values = []
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("#"):
            for key in (":recommended_freqeuncy=", ":recommended_frequency="):
                if key in line:
                    hertz = Fraction(line.split(key)[1])
        elif line:
            values.append(Fraction(line) * 1000)
    if hertz is None:
        raise SystemExit("no frequency in the header")
    step = 1 / hertz
    if seconds is None:
        seconds = step * len(values)
    bits = Fraction(0)
    rounds, rest = divmod(seconds, step * len(values))
    bits += rounds * sum(values) * step
    for value in values:
        part = min(step, rest)
        bits += value * part
        rest -= part
        if rest <= 0:
            break
    return int(bits / 8)


def main() -> None:
    """Print one number."""
    parser = argparse.ArgumentParser(description="bytes that a trace lets through")
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=Fraction)
    parser.add_argument("--bytes", type=int, default=1500)
    parser.add_argument("--closed", action="store_true")
    args = parser.parse_args()
    text = args.file.read_text(encoding="utf-8")
    if ":recommended_fre" in text:
        print(drp(text, args.seconds))
    else:
        print(mahimahi(text, args.seconds, args.bytes, args.closed))


if __name__ == "__main__":
    main()
