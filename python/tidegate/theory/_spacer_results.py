"""What the spacer's theory gives back."""

from __future__ import annotations

from dataclasses import dataclass

from tidegate.theory._with_units import Number


@dataclass(frozen=True)
class Interval:
    """An interval of slow start with an acknowledgement for every second segment, (17).

    ``n`` counts from 1; it begins at ``start`` and takes ``length``. ``segments`` are sent in it
    (p_n) while ``unacknowledged`` (c_n) of the one before wait for a second.
    """

    n: int
    segments: int
    unacknowledged: int
    start: Number
    length: Number


@dataclass(frozen=True)
class Printed:
    """What the paper prints, to be set beside what is right. None: the paper does not say.

    ``k0`` and ``K`` are fractions here: their brackets are lost in the print.
    """

    n0: int
    n1: int
    m0: int
    V_b_minus: Number
    V_b_plus: Number
    V_w_minus: Number
    V_w_plus: Number
    K: Number | None = None
    t_b: Number | None = None
    k0: Number | None = None
    tau_b: Number | None = None
    first_increment: Number | None = None
    c1_holds: bool | None = None
    peaks: tuple[Number, ...] = ()
    levels: tuple[tuple[Number, Number], ...] = ()


@dataclass(frozen=True)
class Spacer:
    """Every quantity of the spacer's theory, in cells and in the time unit of the rates.

    Fractions where exact numbers were given, floats where one of them was a float. Contents are
    fluid (``V_…``) or whole cells (``…_cells``, the one in service included, within two cells of
    any run). ``printed`` is what the paper's text says.
    """

    #: Peak rate of the source, cells per unit of time.
    h: Number
    #: Rate of the spacer.
    c: Number
    #: From the last bit of a segment leaving the spacer to its acknowledgement at the source.
    delta: Number
    #: σ, cells of a segment.
    segment_cells: int
    #: b, segments: the threshold, at least the initial window and at most the window.
    threshold: int
    #: w, segments.
    window: int
    #: w0, segments.
    initial_window: int
    segments_per_ack: int
    #: Δ = δ + σ/c.
    Delta: Number
    #: Δ' = δ + 2σ/c; None with an acknowledgement per segment.
    Delta_prime: Number | None
    #: First interval of slow start in which the spacer does not empty: (2), (20).
    n0: int
    #: Interval in which the window reaches b: (1), (21).
    n1: int
    #: ν = min(n0, n1), (5).
    nu: int
    #: Acknowledgements until the source has caught up, (6).
    K: int
    #: Acknowledgements after the threshold while the content still climbs, after (10);
    #: None where it does not.
    k0: int | None
    #: (12), over m >= 0.
    m0: int
    #: When the window reaches b, (9).
    tau_b: Number
    #: When the oscillation at b begins, (4).
    t_b: Number
    #: When the window grows beyond b; None where it does not.
    first_increment: Number | None
    #: (C1): whether the oscillation at b begins before the window grows.
    c1_holds: bool
    #: (3), (11), (22).
    V_b_minus: Number
    V_b_plus: Number
    #: (13), (23).
    V_w_minus: Number
    V_w_plus: Number
    V_b_minus_cells: int
    V_b_plus_cells: int
    V_w_minus_cells: int
    V_w_plus_cells: int
    #: Largest content in each interval of slow start up to ν, (7), (8), (18), (19), of n1 (10).
    peaks: tuple[Number, ...]
    #: Limits of the oscillation for windows b, b + 1, …, w, (14).
    levels: tuple[tuple[Number, Number], ...]
    #: Intervals of slow start with an acknowledgement for every second segment, (17).
    intervals: tuple[Interval, ...]
    #: Largest content right after a growth of the window while the spacer still empties; None
    #: where that does not happen.
    transition: Number | None
    #: Largest content there ever is: the smallest buffer without loss.
    buffer: Number
    buffer_cells: int
    #: Rate in the end, cells per unit of time: c, or what the window allows.
    rate: Number
    #: Longest wait of a cell in the end, V_w+ / c.
    delay: Number
    #: Seconds in a unit of time; None where plain numbers were given.
    cell_time_s: Number | None
    printed: Printed

    def comparison(self) -> list[dict[str, Number | str | None]]:
        """Return printed beside right: one dict per quantity with ``quantity``, ``printed``, ``corrected``.

        What the paper does not give is None.
        """
        names = [
            *("n0", "n1", "m0", "k0", "K", "tau_b", "t_b", "first_increment", "c1_holds"),
            *("V_b_minus", "V_b_plus", "V_w_minus", "V_w_plus"),
        ]
        return [
            {"quantity": name, "printed": getattr(self.printed, name), "corrected": getattr(self, name)}
            for name in names
        ]

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={getattr(self, name)}"
            for name in ("h", "c", "delta", "segment_cells", "threshold", "window", "initial_window")
        )
        return f"spacer({given}, segments_per_ack={self.segments_per_ack})"
