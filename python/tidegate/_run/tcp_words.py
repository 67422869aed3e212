"""Which TCP ran, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Of more kinds of TCP only the number is told.
_MOST = 4


def tcp_words(flows: Iterable[Mapping[str, Any]]) -> str:
    """Return the TCPs of rows of flows: ``cubic, linux-6.18``, ``bbr and cubic, linux-6.18``; or "".

    A row's ``tcp`` is its controller and what gives the rest, as the engine names them.
    """
    by_base: dict[str, list[str]] = {}
    for label in sorted({str(row["tcp"]) for row in flows if row.get("tcp")}):
        cc, _, base = label.partition(", ")
        by_base.setdefault(base, []).append(cc)
    if sum(map(len, by_base.values())) > _MOST:
        return f"{sum(map(len, by_base.values()))} kinds of TCP, {', '.join(by_base)}"
    return "; ".join(", ".join(filter(None, [_listed(kinds), base])) for base, kinds in by_base.items())


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
