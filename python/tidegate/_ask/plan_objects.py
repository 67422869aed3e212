"""The objects of a checked plan, as the compiled part writes them.

Times are picoseconds, rates bit/s, sizes bytes. Gates and pools are named by their number in the plan.
Where a word that is not listed here is compared with, a type checker says so.

Made by docs/generate.py (make docs) from the compiled part; do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

#: Rate laws by their keys in a scenario; `packets`: a constant number of packets a second.
RateKind = Literal[
    "unlimited",
    "constant",
    "packets",
    "steps",
    "token_bucket",
    "markov",
    "trace",
    "cellreplay",
    "gcra",
    "dtm",
    "abr",
    "follow",
    "reserve",
]
#: What a queue's limit counts.
LimitUnit = Literal[
    "packets",
    "bytes",
    "cells",
]
#: What a packet is on the wire.
FramingKind = Literal[
    "ip",
    "overhead",
    "aal5",
]
#: Whose arithmetic a window has.
ArithmeticKind = Literal[
    "rfc",
    "linux",
]
#: How a window grows in congestion avoidance.
IncreaseKind = Literal[
    "per window",
    "per ack",
    "random",
]
#: What writes a flow's data.
App = Literal[
    "bulk",
    "transfer",
    "source",
    "requests",
]
#: What carries a flow's data.
Transport = Literal[
    "tcp",
    "quic",
]
#: In which order a pool serves those that wait.
Order = Literal[
    "asked",
    "first fit",
]
#: How a time is drawn.
LengthKind = Literal[
    "constant",
    "exponential",
]
#: What a call does that finds no capacity.
BlockedKind = Literal[
    "wait",
    "refuse",
]


class Rate(TypedDict):
    """A rate law; what it has beside its kind depends on the kind."""

    kind: RateKind
    #: constant, token_bucket.
    bps: NotRequired[int]
    #: token_bucket.
    burst_bytes: NotRequired[int]
    initial_bytes: NotRequired[int | None]
    peak_burst_bytes: NotRequired[int | None]
    #: token_bucket, follow.
    peak_bps: NotRequired[int | None]
    #: markov: rates of the states, their mean holding times, the step of a chain in discrete time.
    rates_bps: NotRequired[list[int]]
    holding_ps: NotRequired[list[int]]
    step_ps: NotRequired[int | None]
    #: markov: the states follow each other in a ring.
    ring: NotRequired[bool]
    #: follow: the gate whose capacity is signalled, how often, and how late the source knows it.
    gate: NotRequired[int]
    every_ps: NotRequired[int]
    lag_ps: NotRequired[int]
    #: follow: EFFCAP's M and N, the share that is used, and the bounds of the rate.
    m: NotRequired[int]
    n: NotRequired[int]
    share: NotRequired[float]
    initial_bps: NotRequired[int]
    min_bps: NotRequired[int]


class QueueLimit(TypedDict):
    """The limit of a queue."""

    unit: LimitUnit
    count: int


class Framing(TypedDict):
    """What a packet becomes on the wire of a gate."""

    kind: FramingKind
    overhead: NotRequired[int]
    minimum: NotRequired[int]
    llc: NotRequired[bool]


class Contract(TypedDict):
    """What a policer of one rate that drops allows, in bits and bytes on the gate's wire."""

    bps: float
    burst_bytes: float


class GilbertElliott(TypedDict):
    """Losses by two states; the probabilities are for each unit."""

    good_to_bad: float
    bad_to_good: float
    loss_good: float
    loss_bad: float


class Gate(TypedDict):
    """A gate."""

    name: str
    rate: Rate
    queue_limit: QueueLimit | None
    #: What the queue drops, beside packets that find it full: `drop-tail` is nothing.
    discipline: str
    #: Constants of the discipline, of cake those of its shaper; None: it has none, or is a scheduler.
    aqm: dict[str, Any] | None
    #: The limit counts the packet in service, too.
    queue_counts_all: bool
    framing: Framing
    loses: bool
    slotted: bool
    #: The threshold of early packet discard, in cells.
    epd: int | None
    polices: bool
    #: None where nothing polices, or not with one rate, the same for all flows, that drops.
    contract: Contract | None
    #: The probability of a loss, the same for each unit; 0: none; None: not independent.
    loss: float | None
    #: None: losses are of another kind.
    gilbert_elliott: GilbertElliott | None
    delay_ps: int
    jitters: bool


class DelayedAck(TypedDict):
    """Delayed acknowledgements: for so many segments, or after this time."""

    every: int
    timeout_ps: int | None


class Tcp(TypedDict):
    """What TCP a flow uses; sizes in bytes."""

    cc: str
    label: str
    #: The window grows by addition and shrinks by halving (Tahoe, Reno, NewReno).
    halves: bool
    mss: int
    headers: int
    window: int | None
    #: The receiving application reads no faster than this; user bits per second.
    read_bps: int | None
    initial_window: int
    initial_ssthresh: int | None
    #: Whose arithmetic the window has.
    arithmetic: ArithmeticKind
    sack: bool
    #: Data leave at a pace although the controller names no rate.
    paces: bool
    #: Data leave no faster than the advice of gates says.
    obeys_advice: bool
    increase: IncreaseKind
    fast_retransmit: bool
    fixed_rto_ps: int | None
    delayed_ack: DelayedAck | None
    quick_acks: int
    handshake: bool
    timestamps: bool
    least_timeout_ps: int


class Flow(TypedDict):
    """A flow: its gates there and back, and its two endpoints."""

    name: str
    path: list[int]
    back: list[int]
    back_delay_ps: int
    #: None: drawn at random.
    start_ps: int | None
    latest_start_ps: int
    app: App
    transport: Transport
    #: Of a flow of QUIC only `label`, `mss` and `headers` say something.
    tcp: Tcp


class Pool(TypedDict):
    """A pool of capacity that circuits and calls share."""

    name: str
    capacity_bps: int
    order: Order


class Demand(TypedDict):
    """Capacity that a call or a circuit takes from one pool."""

    pool: int
    bps: int


class Reservation(TypedDict):
    """What a circuit asks for."""

    name: str
    demands: list[Demand]


class Length(TypedDict):
    """A time, always the same or random."""

    kind: LengthKind
    mean_ps: int


class Calls(TypedDict):
    """Calls without packets: without end (`every`), or from `sources` that are idle between two calls."""

    name: str
    start_ps: int
    every: Length | None
    sources: int | None
    idle: Length | None
    patience: Length | None
    hold: Length
    setup_ps: int
    demands: list[Demand]
    blocked: BlockedKind
    retry_ps: int | None


class Plan(TypedDict):
    """A checked scenario with every default filled in."""

    title: str
    duration_ps: int
    warmup_ps: int
    gates: list[Gate]
    flows: list[Flow]
    pools: list[Pool]
    reservations: list[Reservation]
    calls: list[Calls]
    #: Names of the sources of background packets.
    traffic: list[str]
