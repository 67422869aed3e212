"""Numbers and tables for people: plain text, no colour needed, 80 columns are enough."""

from __future__ import annotations

import math
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADERS_SHORT = "Goodput counts payload only; throughput and gate rates count every header."


def width() -> int:
    """Return the columns to write for: the terminal's, at least 60 and at most 120; 80 when unknown."""
    return max(60, min(120, shutil.get_terminal_size((80, 24)).columns))


def number(value: Any, digits: int = 3) -> str:
    """Return a number in few characters: ``digits`` significant ones, "–" for none."""
    if value is None:
        return "–"
    if isinstance(value, int):
        return str(value)
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size >= 7 or size < -4:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - size)}f}"


def percent(share: Any, digits: int = 3) -> str:
    """Return a share as a number of per cent, without the sign."""
    return number(None if share is None else 100 * share, digits)


def rate_scale(top_bps: float) -> tuple[float, str]:
    """Return a divisor and a unit for rates of up to ``top_bps``."""
    for factor, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if top_bps >= factor:
            return factor, unit
    return 1.0, "bit/s"


def rate(bps: Any) -> str:
    """Return a rate with its unit."""
    if bps is None:
        return "–"
    factor, unit = rate_scale(bps)
    return f"{number(bps / factor)} {unit}"


def seconds(value: float) -> str:
    """Return a length of time with its unit."""
    return f"{value:g} s"


def counted(count: int, what: str) -> str:
    """Return "1 flow", "2 flows"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def shorten(name: str, limit: int = 24) -> str:
    """Return a name in at most ``limit`` characters."""
    return name if len(name) <= limit else name[: limit - 1] + "…"


def table(head: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Return aligned columns under a head of one or more lines; the first ``left`` are text."""
    count = len(head[0])
    widths = [max(len(line[i]) for line in (*head, *rows)) if (head or rows) else 0 for i in range(count)]

    def line(cells: Sequence[str]) -> str:
        parts = [cell.ljust(widths[i]) if i < left else cell.rjust(widths[i]) for i, cell in enumerate(cells)]
        return "  ".join(parts).rstrip()

    rule = ("─" if unicode_out() else "-") * (sum(widths) + 2 * (count - 1))
    return "\n".join([*(line(h) for h in head), rule, *(line(r) for r in rows)])


def unicode_out() -> bool:
    """Tell whether standard output can show a line of its own."""
    try:
        "─–·".encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def plain(text: str) -> str:
    """Return the text with what standard output cannot show replaced."""
    if unicode_out():
        return text
    for fancy, simple in (("±", "+-"), ("–", "-"), ("·", "|"), ("…", "..."), ("─", "-"), ("µ", "u")):
        text = text.replace(fancy, simple)
    return text


def counts_cells(gate: dict[str, Any]) -> bool:
    """Tell whether a gate's units are cells."""
    return "queue_max_cells" in gate


def loss(gate: dict[str, Any]) -> float | None:
    """Return what was dropped over what was offered, in cells at a cell gate."""
    share: float | None = gate["loss"]
    return share


def wrapped(text: str, indent: str = "") -> str:
    """Return a paragraph inside the width, later lines indented."""
    return "\n".join(textwrap.wrap(text, width(), subsequent_indent=indent, break_long_words=False) or [""])
