"""A regression as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import counted, number, of_runs, plain, table, wrapped

if TYPE_CHECKING:
    from tidegate._check.judge import Row


def report(found: Any) -> str:
    """Return what was measured, what the scenario says, and what agrees."""
    made = (
        "nothing is random, one run" if found.exact else f"{counted(found.runs, 'run')} · seed {found.seed}"
    )
    lines = [found.title, wrapped(f"beside {found.source} · {made}"), ""]
    head = [["transfer", "number", "unit", "measured", "scenario", "difference", "allowed", ""]]
    lines.append(table(head, [_cells(row) for row in found.rows], left=3))
    lines += ["", *(wrapped(sentence) for sentence in found.sentences)]
    lines += ["", *(wrapped(f"Note: {note}.") for note in found.notes)] if found.notes else []
    return plain("\n".join(lines))


def _cells(row: Row) -> list[str]:
    scale, unit = row.number.scale, "%" if row.number.unit == "points" else row.number.unit
    half = row.predicted.half_width
    spread = f" ±{number(half / scale, 2)}" if half else ""
    off, mean = row.difference, row.predicted.mean
    sign = "+" if off is not None and off > 0 else "-" if off is not None and off < 0 else ""
    some = of_runs(row.predicted.n, row.runs)
    return [
        row.transfer,
        row.number.name,
        unit,
        number(row.measured / scale),
        f"{number(None if mean is None else mean / scale)}{spread}{f' ({some})' if some else ''}",
        f"{sign}{number(None if off is None else abs(off) / scale, 2)}",
        number(row.allowed / scale, 2),
        row.verdict,
    ]
