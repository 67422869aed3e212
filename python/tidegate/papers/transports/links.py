"""The links of the suite, and what is asked of a transport on each: the one statement of both.

The flow ``one`` is the transport's; where there is a flow ``two``, it is another of its kind or of TCP.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

#: Long-term rate of the links, bit/s, where nothing else is said.
RATE = 20e6


@dataclass(frozen=True)
class Link:
    """A scenario of this folder, with what is changed in it.

    The settings of the transport belong to the flows of ``ours``.
    """

    name: str
    #: Why people try it.
    purpose: str
    file: str = "link"
    changes: dict[str, Any] = field(default_factory=dict)
    ours: tuple[str, ...] = ("one",)


@dataclass(frozen=True)
class Rule:
    """What is asked of a transport on a link: each of ``expect`` with what it is about, in words."""

    id: str
    link: Link
    says: str
    expect: tuple[tuple[str, str], ...]
    #: What a reader of its numbers should know.
    note: str = ""


def _queue(**changes: Any) -> dict[str, Any]:
    return {f"gate.link.{key}": value for key, value in changes.items()}


_POLICER = {"rate": "20 Mbit/s", "burst": "100 kB"}
_BUCKET = {"rate": "20 Mbit/s", "burst": "500 kB", "peak": "100 Mbit/s"}
_BURSTS = {"good_to_bad": 0.001, "bad_to_good": 0.1}
_STEPS = [["0 s", "20 Mbit/s"], ["6 s", "5 Mbit/s"], ["10 s", "30 Mbit/s"], ["15 s", "10 Mbit/s"]]
_OUTAGE = [["0 s", "20 Mbit/s"], ["9 s", "0 bit/s"], ["11 s", "20 Mbit/s"]]

PLAIN = Link("plain", "a queue of one bandwidth-delay product")
SHALLOW = Link("shallow", "a queue of a fifth of the product", changes=_queue(queue="20 kB"))
DEEP = Link("deep", "a queue of ten products", changes=_queue(queue="1 MB"))
POLICER = Link(
    "policer", "a policer of 20 Mbit/s and no queue", changes=_queue(rate="1 Gbit/s", police=_POLICER)
)
BUCKET = Link("bucket", "a shaper with two rates", changes=_queue(rate={"token_bucket": _BUCKET}))
LOSS = Link("loss", "one packet of a hundred lost at random", changes=_queue(loss="1%"))
BURSTS = Link("bursts", "losses in bursts of ten packets", changes=_queue(loss={"gilbert_elliott": _BURSTS}))
CODEL = Link(
    "codel",
    "CoDel with ECN",
    changes=_queue(queue={"limit": "1000 packets", "aqm": "codel"}),
)
ASYMMETRIC = Link("asymmetric", "ACKs over a slow way back", file="asymmetric")
VARYING = Link("varying", "a rate that changes", changes=_queue(rate={"steps": _STEPS}))
OUTAGE = Link("outage", "two seconds in which nothing passes", changes=_queue(rate={"steps": _OUTAGE}))
FAST = Link(
    "fast",
    "1 Gbit/s",
    changes={**_queue(rate="1 Gbit/s", queue="5 MB"), "duration": "6 s", "warmup": "3 s"},
)
TWO_RTTS = Link(
    "two-rtts", "round trips of 20 and 80 ms", file="two",
    changes={"flow.one.rtt": "20 ms", "flow.two.rtt": "80 ms"}, ours=("one", "two"),
)  # fmt: skip
BESIDE_CUBIC = Link("beside-cubic", "beside TCP with CUBIC", file="two", changes={"flow.two.tcp.cc": "cubic"})
BESIDE_BBR = Link("beside-bbr", "beside TCP with BBR", file="two", changes={"flow.two.tcp.cc": "bbr"})


def _goodput(share: float) -> tuple[str, str]:
    return f"flow.one.goodput_bps > {share * RATE / 1e6:g} Mbit/s", "goodput"


def _used(percent: float) -> tuple[str, str]:
    return f"gate.link.utilisation > {percent:g}%", "the used share of the link"


def _fair() -> tuple[str, str]:
    # Jain's index of two shares of a quarter and three quarters.
    return "fairness > 0.8", "Jain's fairness index"


RULES = (
    Rule("fills-plain", PLAIN, "It fills a link whose queue holds a bandwidth-delay product.", (_used(90),)),
    Rule("fills-shallow", SHALLOW, "It uses most of a link with a short queue.", (_used(75),)),
    Rule("fills-deep", DEEP, "It fills a link with a long queue.", (_used(90),)),
    Rule("policer", POLICER, "Behind a policer it gets more than half of the rate.", (_goodput(0.5),)),
    Rule("bucket", BUCKET, "It uses most of a shaper with two rates.", (_goodput(0.75),)),
    Rule("loss", LOSS, "With 1% of random losses it gets more than a tenth of the link.", (_goodput(0.1),)),
    Rule("bursts", BURSTS, "With losses in bursts it gets more than a tenth of the link.", (_goodput(0.1),)),
    Rule(
        "marks",
        CODEL,
        "Marks lower its window: nothing is dropped, the queue stays short, and the link is used.",
        (
            ("gate.link.loss < 0.01%", "the share that is lost"),
            ("gate.link.queue_delay_p99_ms < 60 ms", "the queueing delay that 1% exceed"),
            _used(75),
        ),
    ),
    Rule("slow-acks", ASYMMETRIC, "ACKs over a slow way back leave it most of the link.", (_used(75),)),
    Rule("varying", VARYING, "It follows a rate that changes.", (_used(75),)),
    Rule("outage", OUTAGE, "It goes on after two seconds in which nothing passes.", (_goodput(0.6),)),
    Rule(
        "fast",
        FAST,
        "It fills 1 Gbit/s.",
        (_used(80),),
        ". The receive window of a stream of quinn is 1.25 MB, which is 250 Mbit/s over 40 ms",
    ),
    Rule("two-rtts", TWO_RTTS, "Of two of its kind none gets less than a quarter.", (_fair(),)),
    Rule("beside-cubic", BESIDE_CUBIC, "It and CUBIC of TCP get a quarter each at least.", (_fair(),)),
    Rule("beside-bbr", BESIDE_BBR, "It and BBR of TCP get a quarter each at least.", (_fair(),)),
)


def settings(link: Link, changes: dict[str, Any]) -> dict[str, Any]:
    """Return the changes of a link for a transport; ``changes`` are keys of a flow, such as ``transport``."""
    ours = {f"flow.{flow}.{key}": value for flow in link.ours for key, value in changes.items()}
    return {**link.changes, **ours}
