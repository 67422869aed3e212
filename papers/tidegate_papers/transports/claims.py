"""The claims of the suite: what is asked on each link, of each transport that Tidegate has.

They are the rules of ``tidegate.transports.suite``, in its order, and one that puts both CUBICs side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate.transports.senders import SENDERS
from tidegate.transports.suite import LINKS, RULES, SCENARIOS, Link, Rule, settings
from tidegate_papers.api import (
    Claim,
    Expectation,
    Finding,
    Points,
    above,
    below,
    claim,
    count,
    ratio,
    scaled,
    shown,
    together,
    within,
)

if TYPE_CHECKING:
    from tidegate_papers.api import Judgement, Lab, Study

TITLE = "Transports over links that people test with"
SOURCE = (
    "No paper: the links that implementers of QUIC and TCP try and argue about, with a rule for each. "
    "tidegate.transports.judge asks the same of a transport of your own."
)
SCENARIOS_IN = SCENARIOS
#: Links on which quinn needs most of the time of all runs; a quick run has TCP there.
_SLOW = ("kept", "hundred", "tenth", "5g", "satellite", "two-rtts")
QUICK = (
    "Quick: of the senders QUIC with CUBIC, TCP with CUBIC and TCP with BBR; "
    f"QUIC not on {', '.join(_SLOW[:-1])} and {_SLOW[-1]}"
)

_QUICK = ("QUIC, CUBIC", "TCP, CUBIC", "TCP, BBR")
#: By the end of a number's name: what its unit is worth, and how it is written.
_UNITS = {"_bps": (1e6, "Mbit/s"), "_ms": (1, "ms"), ".loss": (0.01, "%"), ".utilisation": (0.01, "%")}
#: Links on which the same rule of two transports is compared.
SAME_NAMES = ("plain", "shallow", "deep", "policer", "loss", "bursts", "codel", "dualpi2", "lte")
SAME = Points(
    tuple(LINKS[name] for name in SAME_NAMES),
    quick=tuple(LINKS[name] for name in ("plain", "policer", "codel")),
)


def senders(link: Link) -> Points[tuple[str, dict[str, Any]]]:
    """Return the senders that are tried on a link, in words, each with the keys of its flows."""
    quick = [name for name in _QUICK if link.name not in _SLOW or "transport" not in SENDERS[name]]
    return Points(tuple(SENDERS.items()), quick=tuple((name, SENDERS[name]) for name in quick))


def study(lab: Lab, link: Link, changes: dict[str, Any]) -> Study:
    """Return 16 runs of a sender over a link."""
    return lab.study(link.file, changes=settings(link, changes))


def _judged(rule: Rule, lab: Lab, sender: str, changes: dict[str, Any]) -> tuple[Judgement, str]:
    """Return what comes of a rule for a sender, and its numbers in words."""
    parts, numbers = [], []
    found = study(lab, rule.link, changes)
    for text, of in rule.expect:
        wanted = Expectation.parse(text)
        number = found.estimate(wanted.metric)
        bound = above if wanted.relation == ">" else below
        parts.append(bound(number, wanted.bound, sender, of=of))
        scale, unit = next((of for end, of in _UNITS.items() if wanted.metric.endswith(end)), (1, ""))
        numbers.append(shown(scaled(number, scale), unit))
    whole = together(*parts) if len(parts) > 1 else parts[0]
    return whole, f"{sender} {', '.join(numbers)}"


def _asked(rule: Rule) -> Claim:
    """Make the claim of a rule."""

    @claim(
        rule.id, where=rule.link.purpose, says=rule.says, unit="share of senders", figures=(rule.link.figure,)
    )
    def measure(lab: Lab) -> Finding:
        cells, numbers = [], []
        for sender, changes in lab.judged(senders(rule.link)):
            cell, words = _judged(rule, lab, sender, changes)
            cells.append(cell)
            numbers.append(words)
        what = ", ".join(of for _, of in rule.expect)
        asked = "; ".join(text for text, _ in rule.expect)
        note = f"{what[0].upper()}{what[1:]}: {'; '.join(numbers)}{rule.note}"
        return Finding(count(cells, runs=16, rule=asked), note)

    return measure


ASKED = tuple(_asked(rule) for rule in RULES)


@claim(
    "same-cubic",
    where="QUIC beside TCP",
    says="CUBIC of quinn has the goodput that CUBIC of TCP has, within a tenth.",
    unit="share of links",
    figures=("fixed",),
)
def claim_same(lab: Lab) -> Finding:
    """Compare goodput of the same rule with two transports, each alone on a link."""
    cells, numbers = [], []
    for link in lab.judged(SAME):
        quic, tcp = (
            study(lab, link, SENDERS[sender]).values("flow.one.goodput_bps")
            for sender in ("QUIC, CUBIC", "TCP, CUBIC")
        )
        found = ratio(quic, tcp)
        cells.append(within(found, 0.9, 1.1, link.name))
        numbers.append(f"{link.name} {shown(found)}")
    return Finding(
        count(cells, runs=16),
        f"Goodput of QUIC over that of TCP: {'; '.join(numbers)}. Headers are 2% of it: 28 bytes of UDP "
        "and IP "
        "and 25 to 35 of QUIC for 1420, 52 of TCP and IP for 1448. quinn paces every packet, and TCP does "
        "not; quinn's window counts packets with their headers; TCP leaves slow start by HyStart, quinn by a "
        "loss. With 1% of losses the window is a dozen packets and follows Reno's (RFC 9438 §4.3): quinn's "
        "has the size of RFC 9438's, and Linux's is smaller, over either transport (guide: papers)",
    )


CLAIMS = [*ASKED, claim_same]
