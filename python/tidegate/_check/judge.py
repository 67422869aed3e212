"""Numbers of a measurement beside those of a scenario, and the judgement of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidegate._base.estimate import Estimate
from tidegate._base.text import number
from tidegate.errors import ArgumentError

AGREE, DIFFER, UNDECIDED = "agree", "differ", "undecided"


@dataclass(frozen=True)
class Number:
    """A number that is compared: the field of a transfer, its words, its unit and what it is divided by."""

    field: str
    name: str
    unit: str
    scale: float


#: What is compared, by the names that ``--within`` takes.
NUMBERS = {
    "goodput": Number("goodput_bps", "goodput", "Mbit/s", 1e6),
    "resent": Number("resent", "resent", "points", 0.01),
    "rtt": Number("rtt_mean_ms", "RTT mean", "ms", 1.0),
    "completion": Number("completion_s", "completion", "s", 1.0),
}
#: How far a scenario may be off, unless told otherwise.
WITHIN = {"goodput": "5%", "resent": "1 points", "rtt": "10%", "completion": "5%"}


@dataclass(frozen=True)
class Bound:
    """A difference that is allowed: a share of what was measured, or so much."""

    text: str
    share: float
    least: float

    def allowed(self, measured: float) -> float:
        """Return the difference that is allowed, in the unit of the field."""
        return self.share * abs(measured) + self.least


@dataclass(frozen=True)
class Row:
    """One number of one transfer.

    Attributes:
        transfer: its label.
        number: what is compared.
        measured: what was measured.
        predicted: the mean over the runs, with its 95% interval; exact where nothing is random.
        allowed: the difference that is allowed.
        verdict: ``agree`` (the whole interval is within), ``differ`` (all of it is outside) or ``undecided``.
    """

    transfer: str
    number: Number
    measured: float
    predicted: Estimate
    allowed: float
    verdict: str

    @property
    def difference(self) -> float:
        """What the scenario says less what was measured."""
        return (self.predicted.mean or 0.0) - self.measured


def bounds(within: Mapping[str, str] | None) -> dict[str, Bound]:
    """Read the allowed differences, such as ``{"goodput": "5%", "rtt": "3 ms"}``.

    Raises:
        ArgumentError: a number is not compared, or a bound cannot be read.
    """
    found = {}
    for name, text in {**WITHIN, **(within or {})}.items():
        if name not in NUMBERS:
            raise ArgumentError(f"within: {name} is not compared; known: {', '.join(NUMBERS)}")
        about = NUMBERS[name]
        plain = text.strip()
        share = plain.endswith("%")
        digits = plain.removesuffix("%").removesuffix(about.unit).removesuffix("point").strip()
        try:
            value = float(digits)
        except ValueError:
            value = -1.0
        if not 0 <= value < 1e12:
            raise ArgumentError(f'within: {name}: read "{text}"; write such as "5%" or "3 {about.unit}"')
        found[name] = Bound(plain, value / 100 if share else 0.0, 0.0 if share else value * about.scale)
    return found


def judge(
    label: str, about: Number, measured: float, predicted: Estimate, bound: Bound, *, exact: bool
) -> Row:
    """Judge one number."""
    if exact:
        predicted = Estimate(predicted.mean, 0.0, 0.0, predicted.n)
    allowed = bound.allowed(measured)
    off = abs((predicted.mean or 0.0) - measured)
    half = predicted.half_width
    if half is None:
        verdict = UNDECIDED
    elif off + half <= allowed:
        verdict = AGREE
    elif off - half > allowed:
        verdict = DIFFER
    else:
        verdict = UNDECIDED
    return Row(label, about, measured, predicted, allowed, verdict)


def told(row: Row) -> str:
    """Return a number that differs in words: both values and the difference."""
    scale = row.number.scale
    unit = "%" if row.number.unit == "points" else f" {row.number.unit}"
    here, there = number(row.measured / scale), number((row.predicted.mean or 0.0) / scale)
    both = f"measured {here}{unit}, scenario {there}{unit}"
    return f"{row.number.name} of {row.transfer} ({both})"
