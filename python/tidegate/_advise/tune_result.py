"""What ``tune`` gives back: settings side by side, in words and as JSON."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tidegate._base.answer import Answer
from tidegate._base.estimate import Estimate
from tidegate._base.text import joined, number, rate, rate_scale, table, wrapped

MET, MISSED, UNDECIDED = "met", "missed", "undecided"


@dataclass(frozen=True)
class Setting:
    """One way to set the gate, simulated on fresh networks.

    ``m`` and ``n`` are EFFCAP's (1 and 1: INSTCAP), None for a constant ``rate_bps``. ``share`` is the
    part of the estimate that is taken, ``window`` the flows' largest window in segments, None without
    a limit.
    ``rtt_p50_ms`` is the median round trip of the worst flow. ``delay_ms`` is what the goal bounds, None
    without a bound; ``bound`` tells whether its 95% interval keeps to that: ``"met"``, ``"missed"``, or
    ``"undecided"`` where it contains the bound or no run has a delay. ``gain_bps`` is the goodput less that
    of the rule of thumb, run by run.
    """

    name: str
    m: int | None
    n: int | None
    rate_bps: int | None
    share: float
    window: int | None
    goodput_bps: Estimate
    rtt_p50_ms: Estimate
    delay_ms: Estimate | None
    bound: str
    gain_bps: Estimate

    @property
    def meets(self) -> bool:
        """Whether the goal's bound is surely met."""
        return self.bound == MET

    @property
    def measured(self) -> bool:
        """Whether there is a number for the goal's bound to be judged by."""
        return self.delay_ms is None or self.delay_ms.mean is not None

    @property
    def significant(self) -> bool | None:
        """Whether the gain's interval lies on one side of 0; None where there is no interval."""
        low, high = self.gain_bps.low, self.gain_bps.high
        return None if low is None or high is None else low > 0 or high < 0

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {
            "name": self.name,
            "m": self.m,
            "n": self.n,
            "rate_bps": self.rate_bps,
            "share": None if self.rate_bps is not None else self.share,
            "window_segments": self.window,
            "goodput_bps": self.goodput_bps.to_dict(),
            "rtt_p50_ms": self.rtt_p50_ms.to_dict(),
            "delay_ms": None if self.delay_ms is None else self.delay_ms.to_dict(),
            "bound": self.bound,
            "meets": self.meets,
            "gain_bps": self.gain_bps.to_dict(),
            "significant": self.significant,
        }


@dataclass(frozen=True)
class Tuning(Answer):
    """The setting of a following gate to take, and those beside it.

    What was searched was searched with ``seed`` among ``tried`` settings; the numbers of all ``rows`` are
    ``runs`` replications of ``check_seed``, which the search did not see. ``top`` has the most goodput of
    those that meet the bound, ``best`` is the simplest that is not significantly worse, and
    ``lead_bps`` what ``top`` has more, run by run. Gains are against ``rule``.
    """

    gate: str
    followed: str
    goal: str
    seed: int
    check_seed: int
    runs: int
    tried: int
    rows: tuple[Setting, ...]
    best: Setting
    top: Setting
    lead_bps: Estimate
    rule: Setting
    notes: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        """Whether the best setting surely meets the goal's bound."""
        return self.best.meets

    def to_dict(self) -> dict[str, Any]:
        """Return what ``tidegate tune --json`` prints."""
        return {
            "gate": self.gate,
            "followed": self.followed,
            "goal": self.goal,
            "met": self.met,
            "seed": self.seed,
            "check_seed": self.check_seed,
            "runs": self.runs,
            "tried": self.tried,
            "best": self.best.to_dict(),
            "top": self.top.to_dict(),
            "lead_bps": self.lead_bps.to_dict(),
            "rule": self.rule.to_dict(),
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }

    def report(self) -> str:
        """Return the same for people."""
        lines = [
            f"gate {self.gate}, which follows {self.followed}: {self.goal}",
            wrapped(
                f"{self.tried} settings searched with seed {self.seed}. The numbers below come from "
                f"{self.runs} new replications with seed {self.check_seed}, which the search did not use."
            ),
            "",
            self._table(),
            "",
            wrapped(self._verdict()),
            wrapped(f"gain: goodput minus that of the {self._rule()}, with the same random networks"),
        ]
        lines += [wrapped(note) for note in self.notes]
        return joined(lines)

    def _table(self) -> str:
        from tidegate._study.text import plus_minus

        top = max(row.goodput_bps.mean or 0.0 for row in self.rows)
        by, unit = rate_scale(top)
        bounded = self.rule.delay_ms is not None
        names = ["", "M", "N", "share", "window", "rate", "goodput", "gain", "", "RTT p50"]
        units = ["", "", "", "", "segm.", unit, unit, unit, "%", "ms"]
        if bounded:
            names += [self._bounded(), ""]
            units += ["ms", ""]
        lines = []
        for row in self.rows:
            share = (row.gain_bps.mean or 0.0) / (self.rule.goodput_bps.mean or 1.0)
            constant = row.rate_bps is not None
            cells = [
                f"{row.name} *" if row is self.best else row.name,
                "–" if row.m is None else str(row.m),
                "–" if row.n is None else str(row.n),
                "–" if constant else f"{row.share:g}",
                "–" if row.window is None else str(row.window),
                "–" if row.rate_bps is None else number(row.rate_bps / by),
                plus_minus(row.goodput_bps, by),
                "–" if row is self.rule else plus_minus(row.gain_bps, by),
                "–" if row is self.rule else f"{100 * share:+.1f}",
                number(row.rtt_p50_ms.mean),
            ]
            if row.delay_ms is not None:
                cells += [plus_minus(row.delay_ms), row.bound]
            lines.append(cells)
        return table([names, units], lines)

    def _bounded(self) -> str:
        """Return what the goal bounds: "p99 delay"."""
        found = re.search(r"with (\w+ (?:queue )?\w+)", self.goal)
        return found[1] if found else "delay"

    def _rule(self) -> str:
        return f"rule of thumb ({self.rule.name.removeprefix('rule, ')})"

    def _what(self, row: Setting) -> str:
        """Return a setting in words: what is to be set."""
        if row.rate_bps is not None:
            return f"a constant rate of {rate(row.rate_bps)}"
        parts = ["INSTCAP" if (row.m, row.n) == (1, 1) else f"M = {row.m}, N = {row.n}"]
        if row.name in ("best share", "best of all four"):
            parts.append(f"share = {row.share:g}")
        if row.name in ("best window", "best of all four") and row.window is not None:
            parts.append(f"a window of {row.window} segments")
        return ", ".join(parts)

    def _verdict(self) -> str:
        best = self.best
        what = self._what(best)
        if not best.measured:
            return f"{self.goal} is open, because nothing was measured that it could be judged by"
        if best.bound == MISSED:
            surely = "" if all(row.measured for row in self.rows) else "certainly "
            return f"no setting tried {surely}meets the goal; {what} comes nearest (*)"
        verdict = f"best (*): {what}"
        if best.bound == UNDECIDED:
            verdict = (
                f"no setting tried certainly meets the goal; {what} may meet it (*): the 95% interval of its "
                "delay contains the bound"
            )
        if self.top is not best:
            from tidegate._study.text import plus_minus

            lead, unit = self.lead_bps, rate_scale(best.goodput_bps.mean or 0.0)
            verdict += (
                f"; {self._what(self.top)} has {plus_minus(lead, unit[0])} {unit[1]} more, but that is not "
                "significant (95%), and the setting is less simple"
            )
        if self.rule.bound == MISSED:
            return f"{verdict}; the {self._rule()} exceeds the bound"
        if best is self.rule or best.significant is None:
            return verdict
        if not best.significant:
            return f"{verdict}; the gain of the best setting over the {self._rule()} is not significant (95%)"
        gains = (best.gain_bps.mean or 0.0) > 0
        change = "gain of the best setting over" if gains else "loss of the best setting against"
        return f"{verdict}; the {change} the {self._rule()} is significant (95%)"

    def __repr__(self) -> str:
        best = self.best
        setting = f"m={best.m}, n={best.n}" if best.rate_bps is None else f"rate_bps={best.rate_bps}"
        return f"<tidegate.Tuning {self.gate!r}: {setting}>"
