"""What ``tune`` gives back: settings side by side, in words and as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidegate import _text

if TYPE_CHECKING:
    from tidegate._estimate import Estimate


@dataclass(frozen=True)
class Setting:
    """One way to set the gate, simulated on fresh networks.

    ``m`` and ``n`` are EFFCAP's (1 and 1: INSTCAP), None for a constant ``rate_bps``. ``delay_ms`` is
    what the goal bounds, None without a bound; ``meets`` tells whether its mean keeps to that.
    ``gain_bps`` is the goodput less that of the rule of thumb, run by run.
    """

    name: str
    m: int | None
    n: int | None
    rate_bps: int | None
    goodput_bps: Estimate
    delay_ms: Estimate | None
    meets: bool
    gain_bps: Estimate

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
            "goodput_bps": self.goodput_bps.to_dict(),
            "delay_ms": None if self.delay_ms is None else self.delay_ms.to_dict(),
            "meets": self.meets,
            "gain_bps": self.gain_bps.to_dict(),
            "significant": self.significant,
        }


@dataclass(frozen=True)
class Tuning:
    """The best setting of a following gate, and those beside it.

    ``best`` was chosen with ``seed`` among ``tried`` settings; the numbers of all ``rows`` are
    ``runs`` replications of ``check_seed``, which the search did not see. Gains are against ``rule``.
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
    rule: Setting
    notes: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        """Whether the best setting meets the goal's bound."""
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
            "rule": self.rule.to_dict(),
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as text."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def report(self) -> str:
        """Return the same for people."""
        from tidegate._study_text import plus_minus

        top = max(row.goodput_bps.mean or 0.0 for row in self.rows)
        by, unit = _text.rate_scale(top)
        bounded = self.rule.delay_ms is not None
        head = [
            ["", "M", "N", "rate", "goodput", "gain", "", *(["delay", ""] if bounded else [])],
            ["", "", "", unit, unit, unit, "%", *(["ms", ""] if bounded else [])],
        ]
        lines = []
        for row in self.rows:
            share = (row.gain_bps.mean or 0.0) / (self.rule.goodput_bps.mean or 1.0)
            cells = [
                f"{row.name} *" if row is self.best else row.name,
                "–" if row.m is None else str(row.m),
                "–" if row.n is None else str(row.n),
                "–" if row.rate_bps is None else _text.number(row.rate_bps / by),
                plus_minus(row.goodput_bps, by),
                "–" if row is self.rule else plus_minus(row.gain_bps, by),
                "–" if row is self.rule else f"{100 * share:+.1f}",
            ]
            if row.delay_ms is not None:
                cells += [plus_minus(row.delay_ms), "" if row.meets else "missed"]
            lines.append(cells)
        told = [
            f"gate {self.gate}, which follows {self.followed}: {self.goal}",
            _text.wrapped(
                f"{self.tried} settings tried with seed {self.seed}; numbers are {self.runs} replications of "
                f"seed {self.check_seed}, which the search did not see"
            ),
            "",
            _text.table(head, lines),
            "",
            _text.wrapped(self._verdict()),
            _text.wrapped(f"gain: against the {self._rule()} on the same networks"),
        ]
        told += [_text.wrapped(note) for note in self.notes]
        return _text.plain("\n".join(told))

    def _rule(self) -> str:
        return f"rule of thumb ({self.rule.name.removeprefix('rule, ')})"

    def _verdict(self) -> str:
        best = self.best
        what = (
            f"M = {best.m}, N = {best.n}"
            if best.rate_bps is None
            else f"a constant rate of {_text.rate(best.rate_bps)}"
        )
        if not self.met:
            return f"no setting that was tried meets the goal; {what} comes nearest (*)"
        if not self.rule.meets:
            return f"best (*): {what}; the {self._rule()} misses the bound"
        if best.significant is None:
            return f"best (*): {what}"
        if not best.significant:
            return f"best (*): {what}, but its gain over the {self._rule()} is not significant (95%)"
        change = "gain over" if (best.gain_bps.mean or 0.0) > 0 else "loss against"
        return f"best (*): {what}; its {change} the {self._rule()} is significant (95%)"

    def __repr__(self) -> str:
        best = self.best
        told = f"m={best.m}, n={best.n}" if best.rate_bps is None else f"rate_bps={best.rate_bps}"
        return f"<tidegate.Tuning {self.gate!r}: {told}>"
