"""What small changes that nobody can know make of a comparison: ranges, and whether the order holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.text import number, rate_scale, table, wrapped
from tidegate._run.perturbed import is_luck, sentence
from tidegate._run.summary import short_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidegate._compare.variants import Variants

#: The number by which variants are put into an order.
_NAME = "goodput_bps"


def changed_lines(comparison: Variants) -> list[str]:
    """Return the range of each variant's goodput and what depends on luck; nothing without changes."""
    found = [variant.run.summary.get("perturbed") for variant in comparison.variants]
    if not all(found) or not all(_NAME in each["numbers"] for each in found if each):
        return []
    spreads = [each["numbers"][_NAME] for each in found if each]
    runs = next(each["runs"] for each in found if each)
    factor, unit = rate_scale(max(max(of["greatest"] or 0.0, of["as_written"]) for of in spreads))
    short = short_keys(comparison.axes)
    head = [
        [*short, "goodput", "least", "median", "greatest", "diff. least", "greatest"],
        [""] * len(short) + [unit] * 6,
    ]
    body = [
        [
            *(variant.changes[key] for key in comparison.axes),
            *(_scaled(of[which], factor) for which in ("as_written", "least", "median", "greatest")),
            *(["–", "–"] if of is spreads[0] else _apart(spreads[0], of, factor)),
        ]
        for variant, of in zip(comparison.variants, spreads, strict=True)
    ]
    labels = [variant.label(comparison.axes) for variant in comparison.variants]
    sentences = [
        f"{label}: {sentence(_NAME, of, runs)}."
        for label, of in zip(labels, spreads, strict=True)
        if is_luck(_NAME, of)
    ]
    sentences += [f"{order}." for order in _orders(labels, spreads, runs)]
    about = (
        f"In {runs} runs of each with small changes that nobody can know. diff.: what a variant has more "
        "than the first, change by change; change i is the same in all."
    )
    return [
        "",
        table(head, body, left=len(short)),
        wrapped(about),
        *(wrapped(each, "  ") for each in sentences),
    ]


def _apart(first: dict[str, Any], other: dict[str, Any], factor: float) -> list[str]:
    """Return the least and the greatest difference between runs with the same change."""
    apart = _differences(first, other)
    return [_scaled(end(apart, default=None), factor) for end in (min, max)]


def _differences(first: dict[str, Any], other: dict[str, Any]) -> list[float]:
    """Return what another variant has more, change by change, where both have the number."""
    pairs = zip(first["values"], other["values"], strict=True)
    return [two - one for one, two in pairs if one is not None and two is not None]


def _scaled(value: float | None, factor: float) -> str:
    return number(None if value is None else value / factor)


def _orders(labels: Sequence[str], spreads: Sequence[dict[str, Any]], runs: int) -> list[str]:
    """Say which variants have more goodput than the first with one change, and less with another.

    Differences of less than 1% of the first one's goodput are none.
    """
    sentences = []
    first = spreads[0]
    same = 0.01 * abs(first["as_written"])
    for label, of in zip(labels[1:], spreads[1:], strict=True):
        apart = _differences(first, of)
        more = sum(difference > same for difference in apart)
        less = sum(difference < -same for difference in apart)
        if more and less:
            sentences.append(
                f"Whether {label} or {labels[0]} has more goodput depends on luck: {label} has "
                f"more in {more} of {runs} runs, less in {less}"
            )
    return sentences
