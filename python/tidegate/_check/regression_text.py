"""A regression as a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import counted, number, plain, table, wrapped

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
    sign = "+" if row.difference > 0 else "-" if row.difference < 0 else ""
    return [
        row.transfer,
        row.number.name,
        unit,
        number(row.measured / scale),
        f"{number((row.predicted.mean or 0.0) / scale)}{spread}",
        f"{sign}{number(abs(row.difference) / scale, 2)}",
        number(row.allowed / scale, 2),
        row.verdict,
    ]
