"""What to send to the provider of a link: what a capture shows, what it does not, and what to ask."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tidegate._base.text import counted, number, percent, wrapped
from tidegate._identify.doubts import agrees
from tidegate._identify.text import numbers_of

if TYPE_CHECKING:
    from tidegate._identify.found import Direction, Law, Limit
    from tidegate._identify.prediction import Predicted

#: By the kind of a law: what only the provider knows. Laws that are not here ask a provider nothing.
_POLICER = (
    "Is this traffic policed, at which rate and with which burst size? Is that what the contract says?",
    "If it is: a queue in place of the policer, or a larger burst, would lose fewer packets.",
)
_QUEUE = (
    "Is this the rate of the contract, and of which device?",
    "How many bytes or packets may wait there, and does the device manage its queue (CoDel, PIE, ECN)?",
)
_QUESTIONS = {
    "policer": _POLICER,
    "constant": _QUEUE,
    "token bucket": _QUEUE,
    "two rates": _QUEUE,
    "steps": ("What changed the rate at these times?",),
    "varying": ("Which link has a rate that varies so (radio, a shared medium, other traffic)?",),
}
_DAY = 86400.0
_RANDOM = "Do counters of interfaces or radio links on this path show errors that would explain the losses?"


def letter(
    directions: list[Direction],
    limits: list[Limit],
    predicted: list[Predicted],
    main: Limit | None,
    start_s: float | None,
) -> str:
    """Return a text for each limit whose law the capture tells; or why there is nothing to send.

    Args:
        main: the limit whose law `predicted` is about; nothing where no law was tried.
        start_s: when the first packet was captured, in seconds since 1970, where simulations begin.
    """
    parts = []
    for limit in limits:
        met = [directions[at] for at in limit.members]
        rows = predicted if limit is main else []
        parts.append("\n".join(_of_one(limit.law, met, rows, start_s)))
    return "\n\n".join(parts)


def _of_one(law: Law, met: list[Direction], rows: list[Predicted], start_s: float | None) -> list[str]:
    ends = ", ".join(f"{each.sender} to {each.receiver}" for each in met[:3])
    more = f", and {counted(len(met) - 3, 'other')}" if len(met) > 3 else ""
    asked = list(_QUESTIONS.get(law.kind, ()))
    if law.drops == "random":
        asked.append(_RANDOM)
    if law.kind == "cannot tell" or not asked:
        why = (
            "the capture does not tell what limits them"
            if law.kind == "cannot tell"
            else "no limit of the link was reached"
        )
        return [wrapped(f"{ends}{more}: nothing to send, because {why}.")]
    if rows and not agrees(rows):
        return [
            wrapped(
                f"{ends}{more}: do not send the law below as it is, because a simulation of it has another "
                "goodput than the capture. Capture a longer transfer, at both ends if you can."
            )
        ]
    lines = [
        wrapped(f"{ends}{more}.{_when(start_s)}"),
        wrapped(f"What the capture shows: {law.sentence} {_totals(met)}"),
        *numbers_of(law),
        *(wrapped(f"- {each}", "  ") for each in law.evidence),
    ]
    if rows:
        measured, predicted = (sum(row.goodput_bps[at] for row in rows) / 1e6 for at in (0, 1))
        lines.append(
            wrapped(
                f"A simulation of this law with the round trips of these connections has a goodput of "
                f"{number(predicted)} Mbit/s; the capture has {number(measured)} Mbit/s."
            )
        )
    else:
        lines.append("No simulation has tried this law.")
    lines.append("What the capture does not show, and we ask:")
    lines.extend(wrapped(f"- {each}", "  ") for each in asked)
    return lines


def _totals(met: list[Direction]) -> str:
    data = sum(each.data_packets for each in met)
    lost = sum(each.lost for each in met)
    places = {"both": "at both ends", "sender": "near the sender", "receiver": "near the receiver"}
    near = " and ".join(sorted({places[each.seen_at] for each in met}))
    return (
        f"{lost} of {data} packets with data were lost ({percent(lost / data if data else None)}%), "
        f"captured {near}."
    )


def _when(start_s: float | None) -> str:
    if start_s is None or start_s < _DAY:
        return ""
    utc = datetime.fromtimestamp(start_s, UTC).strftime("%Y-%m-%d at %H:%M:%S UTC")
    return f" The capture began on {utc} by the clock of the capturing host."
