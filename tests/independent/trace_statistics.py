#!/usr/bin/env python3
"""Statistics of Mahimahi traces, one table row each (standard library only).

    trace_statistics.py FILE...

Mean rate; coefficient of variation of the rate over 20 ms, 100 ms, 1 s and 10 s;
autocorrelation of the 100 ms rate at 0.1, 0.5, 1, 5 and 10 s; gaps without an opportunity:
share of time in gaps of at least 50, 200 and 500 ms, their number per minute from 200 ms,
the longest; share of milliseconds with an opportunity.
"""

import sys
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev


def windows(at: list[int], width: int) -> list[int]:
    """Opportunities in each whole window of so many milliseconds."""
    counts = [0] * (at[-1] // width + 1)
    for ms in at:
        counts[max(ms - 1, 0) // width] += 1
    return counts[: at[-1] // width]


def autocorrelation(values: list[int], lag: int) -> float:
    """Of values `lag` apart."""
    mean = fmean(values)
    square = fmean((v - mean) ** 2 for v in values)
    pairs = zip(values, values[lag:], strict=False)
    return fmean((a - mean) * (b - mean) for a, b in pairs) / square


def row(path: Path) -> str:
    """All figures of one trace."""
    at = [int(line) for line in path.read_text(encoding="ascii").splitlines()]
    period = at[-1]
    cells = [f"{len(at) * 12 / period:.2f}"]
    for width in (20, 100, 1000, 10_000):
        counts = windows(at, width)
        cells.append(f"{pstdev(counts) / fmean(counts):.2f}")
    tenths = windows(at, 100)
    cells += [f"{autocorrelation(tenths, lag):.2f}" for lag in (1, 5, 10, 50, 100)]
    gaps = [b - a for a, b in pairwise([0, *at])]
    cells += [f"{100 * sum(g for g in gaps if g >= least) / period:.1f}" for least in (50, 200, 500)]
    cells.append(f"{60_000 * sum(g >= 200 for g in gaps) / period:.1f}")
    cells.append(f"{max(gaps) / 1000:.2f}")
    cells.append(f"{100 * len(set(at)) / period:.0f}")
    return f"| {path.name} | {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    print(
        "| trace | mean Mbit/s | CV 20 ms | CV 100 ms | CV 1 s | CV 10 s | r 0.1 s | r 0.5 s | r 1 s | r 5 s "
        "| r 10 s | gaps ≥ 50 ms % | ≥ 200 ms % | ≥ 500 ms % | ≥ 200 ms per min | longest s | ms used % |"
    )
    print("|---" * 17 + "|")
    for name in sys.argv[1:]:
        print(row(Path(name)))


if __name__ == "__main__":
    main()
