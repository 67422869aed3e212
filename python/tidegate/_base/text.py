"""Numbers and tables for people: plain text, no colour needed, 80 columns are enough."""

from __future__ import annotations

import contextlib
import math
import re
import shutil
import sys
import textwrap
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HEADERS_SHORT = "Goodput counts payload only; throughput and gate rates count every header."


#: The columns to write for where a terminal has no say.
_WIDTH: ContextVar[int | None] = ContextVar("width", default=None)


@contextlib.contextmanager
def wide() -> Iterator[None]:
    """Write for a page and not for a terminal: no paragraph is broken, and no table is parted."""
    before = _WIDTH.set(1_000_000)
    try:
        yield
    finally:
        _WIDTH.reset(before)


def width() -> int:
    """Return the columns to write for: the terminal's, at least 60 and at most 120; 80 when unknown."""
    fixed = _WIDTH.get()
    if fixed is not None:
        return fixed
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
    # As large as it is written: 0.9996 with three digits is 1.00, and not 1.000.
    size = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))
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


def of_runs(having: int, runs: int) -> str:
    """Return "1 of 8 runs", where only some of the runs or none has a number; nothing where all have it."""
    return "" if having == runs else f"{having} of {counted(runs, 'run')}"


def shorten(name: str, limit: int = 24) -> str:
    """Return a name in at most ``limit`` characters."""
    return name if len(name) <= limit else name[: limit - 1] + "…"


class TextTable(str):
    """A table as text that knows its cells, so that a page can show it as a table."""

    head: Sequence[Sequence[str]]
    rows: Sequence[Sequence[str]]
    left: int
    note: str

    def __new__(
        cls, head: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], left: int, note: str = ""
    ) -> TextTable:
        """Align the columns; ``note`` is a line below them."""
        made = super().__new__(cls, "\n".join(filter(None, [_aligned(head, rows, left), note])))
        made.head, made.rows, made.left, made.note = head, rows, left, note
        return made

    def with_note(self, note: str) -> TextTable:
        """Return the table with a line below it."""
        return TextTable(self.head, self.rows, self.left, note)


def table(head: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], *, left: int = 1) -> TextTable:
    """Return aligned columns under a head of one or more lines; the first ``left`` are text."""
    return TextTable(head, rows, left)


def joined(lines: Sequence[str]) -> str:
    """Return the lines of a report; columns that do not fit into the width make tables of their own below."""
    out: list[str] = []
    for line in lines:
        parts = _fitted(line) if isinstance(line, TextTable) else [line]
        out += ["\n\n".join(parts)]
    return plain("\n".join(out))


def _fitted(whole: TextTable) -> list[str]:
    """Return a table as one or more that fit, each with the left columns; the note stands below the last."""
    count = len(whole.head[0])
    widths = [max(len(line[n]) for line in (*whole.head, *whole.rows)) for n in range(count)]
    if sum(widths) + 2 * (count - 1) <= width() or count <= whole.left + 1:
        return [whole]
    room = width() - sum(widths[: whole.left]) - 2 * (whole.left - 1)
    parts: list[list[int]] = [[]]
    for number in range(whole.left, count):
        if parts[-1] and sum(widths[n] + 2 for n in parts[-1]) + widths[number] + 2 > room:
            parts.append([])
        parts[-1].append(number)
    tables = []
    for part in parts:
        chosen = [*range(whole.left), *part]
        head = [[line[n] for n in chosen] for line in whole.head]
        head = [head[0], *(line for line in head[1:] if any(line))]
        tables.append(TextTable(head, [[row[n] for n in chosen] for row in whole.rows], whole.left))
    return [*tables[:-1], tables[-1].with_note(whole.note)]


def _aligned(head: Sequence[Sequence[str]], rows: Sequence[Sequence[str]], left: int) -> str:
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


#: What a terminal obeys instead of showing it, but line breaks and tabs: the controls C0 and C1, DEL, and the
#: marks that turn the direction of text (Unicode Bidirectional Algorithm, UAX #9 §2). Then what is no text,
#: as in a name that is not UTF-8.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def harmless(text: str) -> str:
    r"""Return the text with what a terminal would obey written out, such as ``\u001b``.

    In the strings of a JSON object that is the same text.
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def counts_cells(gate: dict[str, Any]) -> bool:
    """Tell whether a gate's units are cells."""
    return "queue_max_cells" in gate


def loss(gate: dict[str, Any]) -> float | None:
    """Return what was dropped over what was offered, in cells at a cell gate."""
    share: float | None = gate["loss"]
    return share


def facts(parts: Iterable[str | None]) -> str:
    """Return what there is to tell in one line, or in several that break between two facts."""
    # The text wrapper breaks at no space of this kind.
    unbroken = "\u00a0"
    line = f"{unbroken}· ".join(fact.replace(" ", unbroken) for fact in parts if fact)
    return wrapped(line).replace(unbroken, " ")


def wrapped(text: str, indent: str = "") -> str:
    """Return a paragraph inside the width, later lines indented."""
    return "\n".join(
        textwrap.wrap(text, width(), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        or [""]
    )
