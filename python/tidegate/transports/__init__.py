"""A transport of your own over the links that people test with: one call, a verdict for each rule.

The links and the rules are those of ``tidegate reproduce transports``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.answer import Answer
from tidegate._base.arguments import whole
from tidegate._base.calls import shown
from tidegate._base.estimate import Estimate, estimate
from tidegate._base.files import write_text
from tidegate._base.limits import bounds
from tidegate._base.nearest import nearest
from tidegate._base.text import plain
from tidegate._base.written import check_target
from tidegate._check.expectation import FAILS, HOLDS, UNDECIDED, Expectation, verdict_of
from tidegate._programs.network import Network
from tidegate._programs.network_step import Step
from tidegate._run.metric import metric_of
from tidegate._run.value import Run
from tidegate._run.words import possible, scale_of
from tidegate._study.text import plus_minus
from tidegate.errors import ArgumentError, UnknownNameError
from tidegate.transports.picture import DELAY, GOODPUT, Point, draw
from tidegate.transports.senders import SENDERS
from tidegate.transports.suite import LINKS, RULES, Link, settings

if TYPE_CHECKING:
    from tidegate._page.sheet import Item, Section

__all__ = ["Host", "Judged", "Verdict", "judge", "links"]

#: What drives one flow: it is called with each step of the flow, and answers through the network.
Host = Callable[[Step], None]
_YOURS = "this transport"


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
    seed: int
    #: By link the queueing delay that 1% of the packets exceed, ms, and goodput, bit/s, of flow ``one``.
    places: Mapping[str, tuple[Estimate, Estimate]]

    @property
    def verdict(self) -> str:
        """``fails`` if any expectation fails, else ``undecided`` if any is, else ``holds``."""
        return verdict_of(each.verdict for each in self.verdicts)

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
            value = "no such number" if each.measured.mean is None else plus_minus(each.measured, factor)
            lines.append(f"{each.verdict.ljust(9)}  {each.rule.ljust(13)} {value} {unit}".rstrip())
            lines.append(f"           {each.says} ({each.expectation})")
        lines += [f"warning: {text}" for text in self.warnings]
        return plain("\n".join(lines))

    def write_report(self, path: str | os.PathLike[str]) -> Path:
        """Write one HTML page: the verdicts, and pictures of the links with Tidegate's transports beside.

        The others make as many runs of each link, which takes some seconds a link.

        Raises:
            ArgumentError: the name does not end in .html, or there is no such folder.
            OSError: the file cannot be written.
        """
        check_target(path, "report")
        from tidegate import _core
        from tidegate._page.render import sheet_page
        from tidegate._page.sheet import Lines, Section, Sheet

        sections = [Section("results", "Results", [Lines(self.report())]), *self._pictures()]
        facts = f"{self.verdict} · {self.runs} runs of each link · seed {self.seed}"
        version = _core.build_info()["tidegate"]
        sheet = Sheet(
            "A transport over links", facts, sections, self.warnings, self.to_json(), version=version
        )
        return write_text(path, sheet_page(sheet))

    def _pictures(self) -> list[Section]:
        import matplotlib as mpl

        from tidegate._draw.inline import svg_of
        from tidegate._draw.style import STYLE
        from tidegate._page.sheet import Paragraph, Picture, Section

        names = [*self.places]
        rows = [
            (name, [(_YOURS, *self.places[name]), *_others(LINKS[name], self.runs, self.seed)])
            for name in names
        ]
        purposes = [f"{name}: {LINKS[name].purpose}." for name in names]
        caption = (
            "Goodput over the queueing delay that 1% of the packets exceed: means with their 95% intervals. "
            "Delay grows to the left: the best place is at the upper right."
        )
        with mpl.rc_context(STYLE):
            picture = draw(rows, own=_YOURS)
        shown = Picture(svg_of(picture, "links"), caption)
        items: list[Item] = [shown, *(Paragraph(text) for text in purposes)]
        return [Section("links", "Beside the transports of Tidegate", items)]


def links() -> dict[str, str]:
    """Return the links by name, and what each is for."""
    return {link.name: link.purpose for link in LINKS.values()}


def judge(
    make_host: Callable[[Network, str], Host],
    *,
    links: Sequence[str] | None = None,
    runs: int = 3,
    seed: int = 1,
    report: str | os.PathLike[str] | None = None,
) -> Judged:
    """Run a transport over each link of the suite, and judge it by the rules of its links.

    Args:
        make_host: called for each flow that is the transport's, in each run, with the network and the flow's
            name; what it returns is called with each step of that flow. It sends, sets alarms, and says what
            is delivered through the network.
        links: names of :func:`links`; left out, all but those that ask for an application of their own
            (``video``, ``idle``), whose data the host has to write as their purpose says.
        runs: runs of each link. The first is the link as it is written; the others start at other instants
            and have small changes that nobody can know, as ``tidegate run --perturb`` makes them. With
            several, the whole 95% interval of the mean has to lie on the right side of a bound.
        seed: another seed draws other starts and changes.
        report: an HTML page to write, as :meth:`Judged.write_report`.

    Raises:
        UnknownNameError: there is no such link.
        ArgumentError: ``runs`` is below 1, or what makes hosts, or a host, cannot be called.
        RunError: the transport did what no run can go on with; the message names flow, end and instant.
    """
    runs = whole("runs", runs, 1, 10_000)
    seed = whole("seed", seed, *bounds("seed"))
    check_target(report, "report")
    if not callable(make_host):
        raise ArgumentError(f"make_host: {shown(make_host)} cannot be called")
    if links is not None and not links:
        raise ArgumentError("links: the list is empty; name one or more, or leave it out")
    for name in links or ():
        if name not in LINKS:
            raise UnknownNameError(nearest("link", name, LINKS))
    verdicts: list[Verdict] = []
    warnings: list[str] = []
    places: dict[str, tuple[Estimate, Estimate]] = {}
    for name, link in LINKS.items():
        if link.has_application if links is None else name not in links:
            continue
        done = [_run(make_host, link, seed, number) for number in range(runs)]
        warnings += [f"{name}: {text}" for run in done for text in run.summary["warnings"]]
        places[name] = (_number(done, DELAY), _number(done, GOODPUT))
        for rule in RULES:
            if rule.link is not link:
                continue
            for text, _ in rule.expect:
                wanted = Expectation.parse(text)
                found = _number(done, wanted.metric)
                verdict = wanted.judge(found, runs)
                verdicts.append(Verdict(rule.id, name, rule.says, text, found, verdict))
    judged = Judged(tuple(verdicts), tuple(dict.fromkeys(warnings)), runs, seed, places)
    if report is not None:
        judged.write_report(report)
    return judged


def _number(runs: Sequence[Run], metric: str) -> Estimate:
    return estimate((metric_of(run.summary, {}, metric) for run in runs), possible(metric))


def _others(link: Link, runs: int, seed: int) -> list[Point]:
    """Return where the transports of Tidegate are on a link."""
    from tidegate._study.start import study

    found = []
    for sender, changes in SENDERS.items():
        done = study(link.scenario, changes=settings(link, changes), runs=runs, seed=seed)
        found.append((sender, done.estimate(DELAY), done.estimate(GOODPUT)))
    return found


def _run(make_host: Callable[[Network, str], Host], link: Link, seed: int, number: int) -> Run:
    net = Network(
        link.scenario,
        flows=link.ours,
        seed=seed,
        replication=number,
        record="summary",
        changes=settings(link, {}),
    )
    hosts = {flow: make_host(net, flow) for flow in link.ours}
    for flow, host in hosts.items():
        if not callable(host):
            raise ArgumentError(f"make_host: of {flow} it returned {shown(host)}, which cannot be called")
    for step in net:
        hosts[step.flow](step)
    return net.finish()
