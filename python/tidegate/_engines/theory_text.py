"""What a theory says, for people."""

from __future__ import annotations

from typing import Any

from tidegate._base.text import (
    number,
    plain,
    wrapped,
)


def theory_line(judged: dict[str, Any]) -> str:
    """Return what ``tidegate check --explain`` says of one theory."""
    if not judged["applies"]:
        return wrapped(f"  {judged['theory']}  does not apply: {judged['because']}", "    ")
    bent = "; ".join(judged["bent"])
    return wrapped(
        f"  {judged['theory']}  applies" + (f", with reservations: {bent}" if bent else ""), "    "
    )


def theory_report(summary: dict[str, Any], title: str) -> str:
    """Return what ``tidegate run --engine theory`` prints: only what the theory gives."""
    lines = [title, wrapped(f"engine theory · {summary['theory']}")]
    for what in ("flows", "gates", "pools", "calls"):
        for row in summary.get(what, []):
            lines += ["", f"{what.removesuffix('s')} {row['name']}"]
            told = {key: value for key, value in row.items() if key != "name"}
            left = max(len(key) for key in told)
            lines += [
                f"  {key.ljust(left)}  {value if isinstance(value, str | int) else number(value, 5)}"
                for key, value in told.items()
            ]
    lines += ["", wrapped("Only the numbers that the theory gives are listed.")]
    return plain("\n".join(lines))
