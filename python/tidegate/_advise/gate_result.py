"""What ``size`` gives back for a goal at a gate: the size, the frontier, and how sure that is."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidegate._advise.gate_trials import Tried
from tidegate._advise.tune_result import UNDECIDED
from tidegate._base.answer import Answer
from tidegate._base.calls import checked_methods
from tidegate._base.text import counted, plain, rate, table, wrapped


@checked_methods
@dataclass(frozen=True)
class GateSizing(Answer):
    """The size at a gate that serves a goal, and what the sizes beside it gave.

    ``size`` is in ``unit`` (``"B"``, at a gate that passes cells ``"cells"``, or ``"bit/s"``).
    ``frontier`` has every size that was tried, with the same random numbers; ``held_out`` the answer on
    networks that the search has not seen, and ``verdict`` (``"met"``, ``"missed"``, ``"undecided"``) is
    by those. ``best`` says that the goal has a bound on a delay, and the queue or bucket has the most
    goodput under it; else it is the smallest size that meets the goal. Of a gate with ``copies`` for each
    flow, loss and delay are those of the worst copy. ``share_of_bps`` is what a goodput in percent is of: the
    user data that the gate's contract or rate carries. A bucket that is full adds its burst to that, so a
    share can be above 1. None: that is not one number.
    """

    gate: str
    key: str
    goal: str
    size: int
    unit: str
    best: bool
    met: bool
    verdict: str
    seed: int
    runs: int
    held_out: Tried
    frontier: tuple[Tried, ...]
    start: int
    theory: str = ""
    copies: int = 1
    share_of_bps: float | None = None
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate size --json`` prints."""
        return {
            "gate": self.gate,
            "key": self.key,
            "goal": self.goal,
            "size": self.size,
            "unit": self.unit,
            "chosen": "most goodput" if self.best else "smallest",
            "verdict": self.verdict,
            "seed": self.seed,
            "runs": self.runs,
            "theory": self.theory or None,
            "start": self.start,
            "copies": self.copies,
            "goodput_share_of_bps": self.share_of_bps,
            "held_out": _numbers(self.held_out),
            "frontier": [_numbers(row) for row in self.frontier],
            "notes": self.notes,
        }

    def report(self) -> str:
        """Return the same for people."""
        lines = [
            f"gate {self.gate}: {self._answer()}",
            f"  by simulation, {self.runs} replications of each size, seed {self.seed}",
            f"  on networks that the search has not seen: {self.verdict}",
        ]
        if self.theory:
            begins = size_text(self.start, self.unit)
            lines.append(f"  the search began at {begins}, by the theory {self.theory}")
        if self.copies > 1 and (worst := self._worst()):
            lines.append(f"  of {self.copies} copies the worst decides: {worst}")
        head = [
            [self.key, "goodput", "of rate", "loss", "wait p99", "RTT p99", "goal"],
            ["", "Mbit/s", "%", "%"],
        ]
        head[1] += ["ms", "ms", ""]
        rows = [_row(row, self.unit, " *" if row.size == self.size else "") for row in self.frontier]
        lines += ["", table(head, [*rows, _row(self.held_out, self.unit, " held out")])]
        lines.append("*: the answer. ±: half of the 95% interval.")
        if self.share_of_bps is not None:
            lines.append(wrapped(self._share_words(self.share_of_bps)))
        if self.copies > 1:
            lines.append("Goodput is that of all copies together, loss and wait are those of the worst.")
        lines += [wrapped(note) for note in self.notes]
        goal = str(self.goal)
        if not self.met and self.key == "queue" and ("delay" in goal or "rtt" in goal):
            lines.append(
                wrapped(
                    "What a shorter queue cannot do, another discipline may "
                    f"(gate.{self.gate}.queue.aqm), or a sender that keeps queues short (tcp.cc = bbr): "
                    "see docs/guide/which-queue.md."
                )
            )
        return plain("\n".join(lines))

    def _answer(self) -> str:
        size, answer = size_text(self.size, self.unit), self._of_answer()
        if self.met:
            return (
                f"{self.key} = {size}, the {'most goodput with' if self.best else 'smallest for'} {self.goal}"
            )
        if answer.verdict == UNDECIDED and any(found.mean is None for found in answer.judged):
            return f"{self.goal} is open, because nothing was measured that it could be judged by"
        return f"no {self.key} that was tried surely meets {self.goal}; {size} comes nearest"

    def _share_words(self, carried: float) -> str:
        """Say what shares of goodput are of, and how one can be above 100%."""
        words = f"of rate: of {rate(carried)}, the user data that the rate carries"
        shares = (row.goodput_share for row in (*self.frontier, self.held_out))
        above = any(share is not None and (share.mean or 0.0) > 1.0 for share in shares)
        return words + ("; a bucket that is full adds its burst to it." if above else ".")

    def _of_answer(self) -> Tried:
        (answer,) = (row for row in self.frontier if row.size == self.size)
        return answer

    def _worst(self) -> str:
        """Return the copies that decide with the answer, and on which bounds where they are several."""
        found = {
            bound: name
            for bound, name in zip(self.goal.split(" and "), self._of_answer().decides, strict=True)
            if name
        }
        if len({*found.values()}) > 1:
            return ", ".join(f"{name} ({bound})" for bound, name in found.items())
        return next(iter(found.values()), "")

    def plot(self, file: str | os.PathLike[str]) -> Path:
        """Draw the frontier: goodput, loss and wait against the size.

        Raises:
            OSError: the file cannot be written.
        """
        from tidegate._advise.gate_plot import draw

        title = f"{self.key} of {self.gate}: {self.goal} (filled: met; dashed: the answer)"
        return draw(title, self.key, self.unit, self.size, self.frontier, file)

    def __repr__(self) -> str:
        return f"<tidegate.GateSizing {self.gate!r}: {self.key} {self.size} {self.unit}, {self.verdict}>"


def size_text(size: int, unit: str) -> str:
    """Return a size in words."""
    if unit == "bit/s":
        return rate(size)
    if unit == "cells":
        return counted(size, "cell")
    return f"{size / 1e6:.4g} MB" if size >= 10**6 else f"{size / 1e3:.4g} kB"


def _row(row: Tried, unit: str, mark: str) -> list[str]:
    from tidegate._study.text import plus_minus

    return [
        size_text(row.size, unit) + mark,
        plus_minus(row.goodput_bps, 1e6),
        "–" if row.goodput_share is None else plus_minus(row.goodput_share, 0.01),
        plus_minus(row.loss, 0.01),
        plus_minus(row.delay_ms),
        plus_minus(row.rtt_ms),
        row.verdict,
    ]


def _numbers(row: Tried) -> dict[str, Any]:
    return {
        "size": row.size,
        "goodput_bps": row.goodput_bps.to_dict(),
        "goodput_share": None if row.goodput_share is None else row.goodput_share.to_dict(),
        "loss": row.loss.to_dict(),
        "delay_p99_ms": row.delay_ms.to_dict(),
        "rtt_p99_ms": row.rtt_ms.to_dict(),
        "goal": row.verdict,
        "decides": [name or None for name in row.decides],
    }
