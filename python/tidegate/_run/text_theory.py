"""What a theory says of a scenario, for people."""

from __future__ import annotations

from typing import Any

from tidegate._base.text import number, plain, table, wrapped

#: Below the numbers.
THEORY_SHORT = "Only the numbers that the theory gives are listed."


def theory_report(summary: dict[str, Any], title: str) -> str:
    """Return what ``tidegate run --engine theory`` prints: only what the theory gives."""
    lines = [title, wrapped(f"engine theory · {summary['theory']}")]
    for what in ("flows", "gates", "pools", "calls"):
        for row in summary.get(what, []):
            lines += ["", f"{what.removesuffix('s')} {row['name']}"]
            values = {key: value for key, value in row.items() if key != "name"}
            left = max(len(key) for key in values)
            lines += [
                f"  {key.ljust(left)}  {value if isinstance(value, str | int) else number(value, 5)}"
                for key, value in values.items()
            ]
    lines += ["", wrapped(THEORY_SHORT)]
    return plain("\n".join(lines))


def theory_lines(summary: dict[str, Any], title: str) -> list[str]:
    """Return the same as a page shows it: the title, the facts, and a table of each row."""
    lines = [title, f"engine theory · {summary['theory']}"]
    for what in ("flows", "gates", "pools", "calls"):
        for row in summary.get(what, []):
            body = [
                [key, value if isinstance(value, str) else number(value, 5)]
                for key, value in row.items()
                if key != "name"
            ]
            lines += ["", table([[f"{what.removesuffix('s')} {row['name']}", ""]], body)]
    return [*lines, "", THEORY_SHORT]
