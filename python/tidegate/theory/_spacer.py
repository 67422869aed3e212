"""``spacer``: arguments in, every quantity of the theory out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from fractions import Fraction
from math import ceil

from tidegate._base.arguments import whole
from tidegate._base.calls import shown
from tidegate.errors import ArgumentError
from tidegate.theory._spacer_pairs import Pairs
from tidegate.theory._spacer_results import Printed, Spacer
from tidegate.theory._spacer_single import Single
from tidegate.theory._with_units import Given, Number, cell_time_s, cell_times, count, positive


def spacer(
    *,
    h: Given,
    c: Given,
    delta: Given,
    segment_cells: int | str,
    threshold: int | str,
    window: int | str,
    initial_window: int | str = 1,
    segments_per_ack: int = 1,
) -> Spacer:
    """Return what a cell spacer of rate ``c`` does to a TCP source of peak rate ``h``.

    Source: F. Guillemin, J. Boyer, O. Dugeon, C. Mangin, "Analysis of Cell Spacing on a TCP Flow
    Mapped onto an ATM Connection", with the errors of its print corrected.

    Args:
        h: peak rate of the source, cells per unit of time; or a text such as
            ``"33.92 Mbit/s"`` (53-byte cells). Then c and delta are texts too, and times in the
            result are in cell times at h.
        c: rate of the spacer, below h.
        delta: from the last bit of a segment leaving the spacer to the arrival of its
            acknowledgement, in the same unit of time; or a text such as ``"1.8 ms"``.
        segment_cells: cells of a segment.
        threshold: segments at which slow start ends; a larger one than the window, or a
            smaller one than the initial window, counts as that.
        window: the largest window, segments.
        initial_window: segments.
        segments_per_ack: 1, or 2 for delayed acknowledgements, without a timer.

    Raises:
        ArgumentError: a value is out of its range.
    """
    if whole("segments_per_ack", segments_per_ack, 0, 2**62) not in (1, 2):
        raise ArgumentError(f"segments_per_ack: {shown(segments_per_ack)} is not covered; 1 or 2")
    floats = any(isinstance(value, float) for value in (h, c, delta))
    cell_s = None
    if any(isinstance(value, str) for value in (h, c, delta)):
        numbers = cell_times("h", {"h": h, "c": c}, {"delta": delta})
        cell_s = cell_time_s(str(h))
    else:
        numbers = {"h": positive("h", h), "c": positive("c", c), "delta": positive("delta", delta, zero=True)}
    if not numbers["c"]:
        raise ArgumentError(f"c: {shown(c)} lets nothing through; more than 0")
    if numbers["c"] >= numbers["h"]:
        raise ArgumentError(f"c: {shown(c)} is not below h, {shown(h)}: nothing would wait in the spacer")
    sigma = count("segment_cells", segment_cells, "cell")
    most = count("window", window, "segment", most=_MOST_SEGMENTS)
    first = count("initial_window", initial_window, "segment", most=_MOST_SEGMENTS)
    if first < segments_per_ack:
        raise ArgumentError(
            f"initial_window: {shown(initial_window)} is never acknowledged, as an acknowledgement waits for "
            "a second segment; 2 or more with segments_per_ack=2"
        )
    if most < segments_per_ack:
        raise ArgumentError(
            f"window: {shown(window)} is never acknowledged; 2 or more with segments_per_ack=2"
        )
    first = min(first, most)
    b = min(max(count("threshold", threshold, "segment", most=10**12), first), most)
    kind = Single if segments_per_ack == 1 else Pairs
    model = kind(numbers["h"], numbers["c"], numbers["delta"], sigma, b, most, first)
    return _result(model, cell_s, as_given=float if floats else Fraction)


#: Above this the intervals of slow start and the levels would fill the memory.
_MOST_SEGMENTS = 1_000_000


def _result(model: Single | Pairs, cell_s: Fraction | None, *, as_given: type[Fraction | float]) -> Spacer:
    def as_number(value: Fraction) -> Number:
        return as_given(value)

    def maybe(value: Fraction | Number | None) -> Number | None:
        return None if value is None else as_number(Fraction(value))

    at_b, at_w = model.level(model.b), model.level(model.w)
    grows = model.w > model.b
    pairs = model if isinstance(model, Pairs) else None
    service = model.c / model.h
    return Spacer(
        h=as_number(model.h),
        c=as_number(model.c),
        delta=as_number(model.delta),
        segment_cells=model.sigma,
        threshold=model.b,
        window=model.w,
        initial_window=model.w0,
        segments_per_ack=model.per_ack,
        Delta=as_number(model.delta + model.segment_time),
        Delta_prime=as_number(pairs.round_trip) if pairs else None,
        n0=model.n0,
        n1=model.n1,
        nu=model.nu,
        K=model.K,
        k0=model.k0,
        m0=model.m0,
        tau_b=as_number(model.tau_b),
        t_b=as_number(model.t_b),
        first_increment=as_number(model.first_increment) if grows else None,
        c1_holds=not grows or model.t_b < model.first_increment,
        V_b_minus=as_number(at_b[0]),
        V_b_plus=as_number(at_b[1]),
        V_w_minus=as_number(at_w[0]),
        V_w_plus=as_number(at_w[1]),
        V_b_minus_cells=ceil(at_b[0]),
        V_b_plus_cells=ceil(at_b[1] + service),
        V_w_minus_cells=ceil(at_w[0]),
        V_w_plus_cells=ceil(at_w[1] + service),
        peaks=tuple(as_number(peak) for peak in model.peaks),
        levels=tuple(
            (as_number(low), as_number(high)) for low, high in map(model.level, range(model.b, model.w + 1))
        ),
        intervals=tuple(
            replace(each, start=as_number(Fraction(each.start)), length=as_number(Fraction(each.length)))
            for each in (pairs.intervals if pairs else ())
        ),
        transition=maybe(model.transition),
        buffer=as_number(model.buffer),
        buffer_cells=ceil(model.buffer + service),
        rate=as_number(model.rate),
        delay=as_number(at_w[1] / model.c),
        cell_time_s=None if cell_s is None else as_number(cell_s),
        printed=_printed(model.printed(), maybe),
    )


def _printed(found: Printed, as_number: Callable[[Number | None], Number | None]) -> Printed:
    """Return the same with its fractions in the kind of number that was given."""

    def each(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(each(item) for item in value)
        return as_number(value) if isinstance(value, Fraction) else value

    return Printed(**{item.name: each(getattr(found, item.name)) for item in fields(found)})  # type: ignore[arg-type]
