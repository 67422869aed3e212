"""Fixed-width tables on standard output."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def table(
    title: str, head: Sequence[str], rows: Sequence[Sequence[object]], notes: Sequence[str] = ()
) -> None:
    """Print rows under a head: text to the left, everything else to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(line[n]) for line in [list(head), *cells]) for n in range(len(head))]
    print(f"\n{title}\n")
    for line in [list(head), ["-" * width for width in widths], *cells]:
        columns = [
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print("  " + "  ".join(columns).rstrip())
    for note in notes:
        print(f"  {note}")
    print(flush=True)


def skip(title: str, reason: str) -> None:
    """Say that a part is left out, and why."""
    print(f"\n{title}\n\n  skipped: {reason}\n", flush=True)


def count(number: float) -> str:
    """Write a large number in thousands, with a thin look: 82 766."""
    return f"{number:,.0f}".replace(",", " ")


def verdict(good: bool) -> str:
    """Write whether a target is met."""
    return "yes" if good else "NO"
