"""``abr``: TCP over explicit rate feedback and a link of two rates, by the Markov renewal model."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tidegate._base.arguments import text
from tidegate._base.calls import shown
from tidegate.errors import ArgumentError
from tidegate.theory._abr_assumptions import assumptions
from tidegate.theory._abr_model import Model
from tidegate.theory._abr_results import Abr
from tidegate.theory._with_units import Given, count, positive

SCHEMES = ("abr", "tcp", "constant")
REWARDS = ("optimistic", "conservative")
SPACINGS = ("link", "even", "burst")
LOSS_WINDOWS = ("grown", "one more")
#: Payload of an ATM cell.
CELL_SHARE = Fraction(48, 53)
#: Above this the table of states would fill the memory.
_MOST_PACKETS = 100_000
#: Times, in packets at the high rate, are fractions of at most this denominator: products stay
#: in 64 bits.
_FINEST = 10_000


def abr(
    *,
    psi: Given,
    delta_packets: Given,
    buffer: int | str,
    wmax: int | str | None = None,
    r0: Given = 1,
    r1: Given = 2,
    psi_low: Given | None = None,
    scheme: str = "abr",
    reward: str = "optimistic",
    rate: Given | None = None,
    spacing: str = "link",
    loss_window: str = "grown",
    recovery: int = 3,
    overhead: Given | None = None,
    explain: bool = False,
) -> Abr:
    """Return the throughput of one TCP without fast retransmit over a link of two random rates.

    Source: S. Shakkottai, A. Kumar, A. Karnik and A. Anvekar, "TCP Performance Over End-to-End Rate
    Control and Stochastic Available Capacity", Section III, with the recursions for the two
    queues and the errors of its print corrected; see the design page on theory.

    Args:
        psi: mean time that the link stays at its high rate, in round trips; above 1, as it
            changes at most once in a round trip: with probability 1/psi.
        delta_packets: Δ, the round trip without queues, in units of time; with r0 = 1 that is
            packets' times at the high rate.
        buffer: packets that the link's queue holds, the one in service included.
        wmax: largest window, packets; left out, 2 (Δ + buffer).
        r0: time of a packet at the link's high rate.
        r1: at its low rate; above r0.
        psi_low: mean time at the low rate, in round trips; left out, as ``psi``.
        scheme: ``"abr"``, the source sends at the link's rate of a round trip ago (INSTCAP);
            ``"tcp"``, the window alone; ``"constant"``, the source sends at ``rate``.
        reward: what of a cycle with a loss counts: ``"optimistic"``, all that reaches the
            receiver, or ``"conservative"``, as if all were sent again.
        rate: of the source with ``scheme="constant"``, packets per unit of time.
        spacing: of the packets that reach the link with ``scheme="tcp"``: ``"link"``, at the link's
            rate of a round trip ago; ``"even"``, over the round trip; ``"burst"``, at once.
        loss_window: the window at a loss, half of which ends the next slow start: ``"grown"``, W + N, or
            ``"one more"``, W + 1; neither is beyond ``wmax``.
        recovery: round trips from the start of one with a loss to the first of slow start.
        overhead: factor of efficiency; left out, 48/53 for cells and 1 with ``scheme="tcp"``.
        explain: list the assumptions and whether these numbers keep to them.

    Raises:
        ArgumentError: a value is out of its range, or the model does not apply, as for psi of 1 or less.
    """
    from tidegate.theory._abr_model import Model, Rules

    for name, value, known in (
        ("scheme", scheme, SCHEMES),
        ("reward", reward, REWARDS),
        ("spacing", spacing, SPACINGS),
        ("loss_window", loss_window, LOSS_WINDOWS),
    ):
        if text(name, value) not in known:
            raise ArgumentError(f"{name}: read {shown(value)}; it is {', '.join(known[:-1])} or {known[-1]}")
    high = _holding("psi", psi)
    low = high if psi_low is None else _holding("psi_low", psi_low)
    fast, slow = positive("r0", r0), positive("r1", r1)
    if slow <= fast:
        raise ArgumentError(f"r1: {r1!r} is not above r0, {r0!r}: it is a packet's time at the low rate")
    delta = positive("delta_packets", delta_packets)
    if not slow <= delta <= _MOST_PACKETS * fast:
        raise ArgumentError(
            f"delta_packets: {shown(delta_packets)} is out of range; a round trip lasts a packet's time at "
            f"the low rate, {r1!r}, or longer, and at most {_MOST_PACKETS} packets at the high rate"
        )
    room = count("buffer", buffer, "packet", most=_MOST_PACKETS)
    most = (
        2 * (math.ceil(delta / fast) + room)
        if wmax is None
        else count("wmax", wmax, "packet", least=2, most=4 * _MOST_PACKETS)
    )
    source = _source(scheme, rate, delta)
    rounds = count("recovery", recovery, "round trip", most=100)
    share = (
        (Fraction(1) if scheme == "tcp" else CELL_SHARE)
        if overhead is None
        else positive("overhead", overhead)
    )
    rules = Rules(
        stay=(float(1 - 1 / high), float(1 - 1 / low)),
        delta=_short(delta / fast),
        buffer=room,
        wmax=most,
        slow=(Fraction(1), _short(slow / fast)),
        scheme=scheme,
        spacing=spacing,
        loss_window=loss_window,
        recovery=rounds,
        source=None if source is None else _short(source / fast),
    )
    found = _result(Model(rules), float(high), float(low), reward, float(share), float(fast))
    return replace(found, assumptions=assumptions(found, rules)) if explain else found


def _holding(name: str, value: Any) -> Fraction:
    psi = positive(name, value)
    if psi <= 1:
        raise ArgumentError(
            f"{name}: the renewal model does not apply to {shown(value)}: it lets the link change its rate "
            "once in a round trip with probability 1/psi, so psi is above 1; simulate such a link instead"
        )
    return psi


def _short(number: Fraction) -> Fraction:
    """Return the nearest fraction of a small denominator: a third for 0.333333333."""
    return number.limit_denominator(_FINEST)


def _source(scheme: str, rate: Any, delta: Fraction) -> Fraction | None:
    """Return the time of a packet at a source of constant rate."""
    if scheme != "constant":
        if rate is not None:
            raise ArgumentError(f'rate: {shown(rate)} is for scheme="constant" only')
        return None
    if rate is None:
        raise ArgumentError('rate: scheme="constant" needs the rate that the source sends at')
    time = 1 / positive("rate", rate)
    if time > delta:
        raise ArgumentError(
            f"rate: {shown(rate)} sends no packet in a round trip; at least {float(1 / delta):.4g}"
        )
    return time


def _result(model: Model, psi: float, psi_low: float, reward: str, share: float, unit: float) -> Abr:
    import numpy as np

    rules = model.rules
    weights = model.stationary
    rounds = float(weights @ model.rounds)
    delta, fast, slow = unit * float(rules.delta), unit, unit * float(rules.slow[1])
    capacity = (psi / fast + psi_low / slow) / (psi + psi_low)
    throughputs = {
        "conservative": float(weights @ model.conservative) / rounds / delta,
        "optimistic": float(weights @ model.optimistic) / rounds / delta,
    }
    efficiency = {name: share * value / capacity for name, value in throughputs.items()}
    windows, place = np.unique(model.window, return_inverse=True)
    lost = float(weights @ model.lost)
    return Abr(
        psi=psi,
        psi_low=psi_low,
        delta_packets=delta,
        buffer=rules.buffer,
        wmax=rules.wmax,
        r0=fast,
        r1=slow,
        scheme=rules.scheme,
        reward=reward,
        efficiency=efficiency[reward],
        bounds=(efficiency["conservative"], efficiency["optimistic"]),
        throughput_packets=throughputs[reward],
        capacity_packets=capacity,
        overhead=share,
        loss_per_round_trip=lost / rounds,
        loss_per_step=lost,
        mean_cycle_rounds=rounds,
        states=len(weights),
        windows=windows,
        window_probability=np.bincount(place, weights=weights).astype(np.float64),
    )
