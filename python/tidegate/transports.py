"""A transport of your own over the links that people test with: one call, a verdict for each rule.

The links and the rules are those of ``tidegate reproduce transports``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidegate._base.answer import Answer
from tidegate._base.arguments import whole
from tidegate._base.errors import UnknownNameError, nearest
from tidegate._base.estimate import Estimate, estimate
from tidegate._base.text import plain
from tidegate._expect.expectation import FAILS, HOLDS, UNDECIDED, Expectation
from tidegate._network.start import Network
from tidegate._network.value import Step
from tidegate._run.metric import metric_of
from tidegate._run.value import Run
from tidegate._run.words import scale_of
from tidegate._study.text import plus_minus
from tidegate.papers.transports.links import RULES, Link, settings

__all__ = ["Host", "Judged", "Verdict", "judge", "links"]

#: What drives one flow: it is called with each step of the flow, and answers through the network.
Host = Callable[[Step], None]
_FOLDER = Path(__file__).parent / "papers" / "transports"


@dataclass(frozen=True)
class Verdict:
    """What came of one expectation of a rule: ``holds``, ``fails`` or ``undecided``, and the number."""

    rule: str
    link: str
    says: str
    expectation: str
    measured: Estimate
    verdict: str


@dataclass(frozen=True)
class Judged(Answer):
    """The verdicts on a transport, and what its runs warned of."""

    verdicts: tuple[Verdict, ...]
    warnings: tuple[str, ...]
    runs: int

    @property
    def verdict(self) -> str:
        """``fails`` if any expectation fails, else ``undecided`` if any is, else ``holds``."""
        found = {each.verdict for each in self.verdicts}
        return next((verdict for verdict in (FAILS, UNDECIDED) if verdict in found), HOLDS)

    @property
    def status(self) -> int:
        """An exit status: 0 if all holds, 1 if something fails, 3 if something is undecided."""
        return {HOLDS: 0, FAILS: 1, UNDECIDED: 3}[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {
            "verdict": self.verdict,
            "runs": self.runs,
            "verdicts": [
                {
                    "rule": each.rule,
                    "link": each.link,
                    "says": each.says,
                    "expectation": each.expectation,
                    "measured": each.measured.to_dict(),
                    "verdict": each.verdict,
                }
                for each in self.verdicts
            ],
            "warnings": list(self.warnings),
        }

    def report(self) -> str:
        """Return a line for each expectation."""
        lines = []
        for each in self.verdicts:
            factor, unit = scale_of(Expectation.parse(each.expectation).metric)
            told = "no such number" if each.measured.mean is None else plus_minus(each.measured, factor)
            lines.append(f"{each.verdict.ljust(9)}  {each.rule.ljust(13)} {told} {unit}".rstrip())
            lines.append(f"           {each.says} ({each.expectation})")
        lines += [f"warning: {text}" for text in self.warnings]
        return plain("\n".join(lines))


def links() -> dict[str, str]:
    """Return the links by name, and what each is for."""
    return {rule.link.name: rule.link.purpose for rule in RULES}


def judge(
    make_host: Callable[[Network, str], Host],
    *,
    links: Sequence[str] | None = None,
    runs: int = 3,
    seed: int = 1,
) -> Judged:
    """Run a transport over each link of the suite, and judge it by the rules of its links.

    Args:
        make_host: called for each flow that is the transport's, in each run, with the network and the flow's
            name; what it returns is called with each step of that flow. It sends, sets alarms, and says what
            is delivered through the network.
        links: names of :func:`links`; left out, all.
        runs: runs of each link, which start at other instants; with several, the whole 95% interval of the
            mean has to lie on the right side of a bound.
        seed: another seed draws other starts.

    Raises:
        UnknownNameError: there is no such link.
        ArgumentError: ``runs`` is below 1.
        RunError: the transport did what no run can go on with; the message names flow, end and instant.
    """
    runs = whole("runs", runs, 1, 10_000)
    known = {rule.link.name: rule.link for rule in RULES}
    for name in links or ():
        if name not in known:
            raise UnknownNameError(nearest("link", name, known))
    verdicts: list[Verdict] = []
    warnings: list[str] = []
    for name, link in known.items():
        if links is not None and name not in links:
            continue
        done = [_run(make_host, link, seed, number) for number in range(runs)]
        warnings += [f"{name}: {text}" for run in done for text in run.summary["warnings"]]
        for rule in RULES:
            if rule.link is not link:
                continue
            for text, _ in rule.expect:
                wanted = Expectation.parse(text)
                found = estimate(metric_of(run.summary, {}, wanted.metric) for run in done)
                verdict = wanted.judge(found)
                verdicts.append(Verdict(rule.id, name, rule.says, text, found, verdict))
    return Judged(tuple(verdicts), tuple(dict.fromkeys(warnings)), runs)


def _run(make_host: Callable[[Network, str], Host], link: Link, seed: int, number: int) -> Run:
    net = Network(
        _FOLDER / f"{link.file}.toml",
        flows=link.ours,
        seed=seed,
        replication=number,
        record="summary",
        set=settings(link, {}),
    )
    hosts = {flow: make_host(net, flow) for flow in link.ours}
    for step in net:
        hosts[step.flow](step)
    return net.finish()
