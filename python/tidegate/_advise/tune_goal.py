"""What a setting of a following gate is judged by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidegate import _core
from tidegate._advise.tune_result import MET, MISSED, UNDECIDED
from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from tidegate._base.estimate import Estimate


@dataclass(frozen=True)
class Goal:
    """What a setting is judged by: throughput, and perhaps a bound on a delay."""

    text: str
    statistic: str = ""
    what: str = ""
    bound_ms: float | None = None

    def verdict(self, delay: Estimate | None) -> str:
        """Tell whether the 95% interval of a delay keeps to the bound, misses it, or holds it; or none is."""
        if self.bound_ms is None:
            return MET
        if delay is None or delay.mean is None:
            return UNDECIDED
        below, above = delay.arms
        if delay.mean + above <= self.bound_ms:
            return MET
        return MISSED if delay.mean - below > self.bound_ms else UNDECIDED

    @staticmethod
    def parse(text: str) -> Goal:
        """Read ``"throughput"`` or ``"throughput with p99 delay < 200 ms"``.

        Raises:
            ArgumentError: it is neither.
        """
        words = " ".join(text.split())
        found = re.fullmatch(
            r"throughput(?: with (?P<statistic>mean|p50|p99) (?P<what>delay|rtt|queue delay) ?"
            r"(?:<=|<|≤|below) ?(?P<time>.+))?",
            words,
        )
        if found is None:
            raise ArgumentError(
                f'goal: read "{text}"; write "throughput", or "throughput with p99 delay < 200 ms" '
                "(mean, p50 or p99; of delay, from TCP to the receiver; of rtt; or of queue delay, the wait "
                "at the followed gate only)"
            )
        if found["time"] is None:
            return Goal(words)
        bound = _core.read_span("goal", found["time"]) / 10**9
        if not bound > 0:
            raise ArgumentError(f'goal: read "{text}"; a bound is above 0')
        return Goal(words, found["statistic"], found["what"], bound)
