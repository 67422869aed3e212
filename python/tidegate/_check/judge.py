"""Numbers of a measurement beside those of a scenario, and the judgement of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidegate._base.estimate import Estimate, estimate
from tidegate._base.text import counted, number, of_runs
from tidegate._run.words import possible
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
        predicted: the mean over the runs that have the number, with its 95% interval; exact where nothing is
            random.
        runs: how many runs there are; ``predicted.n`` of them have the number.
        allowed: the difference that is allowed.
        verdict: ``agree`` (the whole interval is within), ``differ`` (all of it is outside, or no run has the
            number) or ``undecided``. Where only some of the runs have it, it does not agree.
    """

    transfer: str
    number: Number
    measured: float
    predicted: Estimate
    runs: int
    allowed: float
    verdict: str

    @property
    def difference(self) -> float | None:
        """What the scenario says less what was measured; None where no run has the number."""
        return None if self.predicted.mean is None else self.predicted.mean - self.measured


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
    label: str,
    about: Number,
    measured: float,
    values: Sequence[float | None],
    bound: Bound,
    *,
    exact: bool,
    watched_s: float,
) -> Row:
    """Judge one number.

    Args:
        label: of the transfer.
        about: what is compared.
        measured: what was measured.
        values: that of each run; None where it has none.
        bound: the difference that is allowed.
        exact: whether nothing is random, so that one run is enough.
        watched_s: from the start of the transfer to the end of a run: one that was not done took longer.
    """
    predicted = estimate(values, possible(f".{about.field}"))
    if exact:
        predicted = Estimate(predicted.mean, 0.0, 0.0, predicted.n, predicted.possible)
    allowed = bound.allowed(measured)
    verdict = _verdict(predicted, measured, allowed)
    if predicted.n < len(values):
        verdict = DIFFER if predicted.n == 0 or verdict == DIFFER else UNDECIDED
        if about.field == "completion_s":
            least = estimate(watched_s if value is None else value for value in values)
            surely = least.mean is not None and least.mean > measured and predicted.n > 0
            verdict = _verdict(least, measured, allowed) if surely else verdict
            verdict = UNDECIDED if verdict == AGREE else verdict
    return Row(label, about, measured, predicted, len(values), allowed, verdict)


def _verdict(predicted: Estimate, measured: float, allowed: float) -> str:
    off = abs((predicted.mean or 0.0) - measured)
    half = predicted.half_width
    if half is None:
        return UNDECIDED
    if off + half <= allowed:
        return AGREE
    return DIFFER if off - half > allowed else UNDECIDED


def row_words(row: Row) -> str:
    """Return a number that differs in words: both values and the difference."""
    scale = row.number.scale
    unit = "%" if row.number.unit == "points" else f" {row.number.unit}"
    mean, some = row.predicted.mean, of_runs(row.predicted.n, row.runs)
    there = f"none in {counted(row.runs, 'run')}" if mean is None else f"{number(mean / scale)}{unit}"
    if mean is not None and some:
        rest = ", not done in the others" if row.number.field == "completion_s" else ""
        there = f"{there} in {some}{rest}"
    both = f"measured {number(row.measured / scale)}{unit}, scenario {there}"
    return f"{row.number.name} of {row.transfer} ({both})"
