"""Measuring claims and drawing figures in a lab; what fails is told and the rest goes on."""

from __future__ import annotations

import io
import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from tidegate.errors import InternalError, RunError, StoreError

from tidegate_papers._reproduce.parts import with_untried
from tidegate_papers._reproduce.value import Drawn, Measured
from tidegate_papers._reproduce.verdict import LADDER, enough

if TYPE_CHECKING:
    from concurrent.futures import Future

    from tidegate_papers._reproduce.claim import Claim, Figure, Finding
    from tidegate_papers._reproduce.lab import Lab


#: What can keep one claim from being measured; anything else stops everything.
_FAILURES = (ArithmeticError, LookupError, RunError, InternalError, TypeError, ValueError, AttributeError)


def measure(lab: Lab, claim: Claim, full: dict[str, str] | None = None) -> Measured:
    """Measure a claim and judge it; ``full`` is what the full run said of it, where this is a quick one."""
    try:
        finding = judge(lab, claim)
    except StoreError:
        raise
    except _FAILURES as error:
        if os.environ.get("TIDEGATE_TRACEBACK"):
            raise
        return Measured(
            claim, None, None, None, 0, "", lab.take_commands(), f"{type(error).__name__}: {error}",
            tcp=lab.take_tcps(),
        )  # fmt: skip
    judged = finding.judgement
    notes = [part for part in (finding.note, judged.reason, claim.exact) if part]
    return Measured(
        claim,
        judged.verdict,
        judged.measured,
        judged.interval,
        judged.runs,
        " ".join(_sentence(part) for part in notes),
        lab.take_commands(),
        rule=judged.rule,
        cases=judged.cases,
        part=judged.part,
        unit=judged.unit,
        possible=tuple(verdict for verdict in LADDER if verdict in judged.possible),
        full=full,
        tcp=lab.take_tcps(),
    )


def judge(lab: Lab, claim: Claim) -> Finding:
    """Measure a claim; what a quick run leaves out of it is undecided.

    Raises:
        TooFewRunsError: it is on chaotic TCP and rests on fewer than 16 runs.
    """
    lab.chaotic, lab.untried = not claim.exact, 0
    try:
        finding = claim.measure(lab)
    finally:
        lab.chaotic = False
    enough(finding.judgement, chaotic=not claim.exact)
    return replace(finding, judgement=with_untried(finding.judgement, lab.untried))


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def draw(lab: Lab, figure: Figure) -> Drawn:
    """Draw a figure."""
    import matplotlib as mpl
    from tidegate._draw.inline import inline
    from tidegate._draw.style import METADATA, STYLE

    try:
        with mpl.rc_context(STYLE):
            picture = figure.draw(lab)
            buffer = io.StringIO()
            picture.savefig(buffer, format="svg", metadata=METADATA["svg"])
    except StoreError:
        raise
    except _FAILURES as error:
        if os.environ.get("TIDEGATE_TRACEBACK"):
            raise
        return Drawn(figure, None, lab.take_commands(), f"{type(error).__name__}: {error}")
    return Drawn(figure, inline(buffer.getvalue(), figure.id), lab.take_commands())


class Drawing:
    """Draws figures in a thread of their own, while claims wait for runs that need no Python.

    Drawing takes as long as measuring. A figure is begun once its claims are measured, so
    that it finds their studies done.
    """

    def __init__(self, lab: Lab, figures: list[Figure]) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._waiting = list(figures)
        self._drawn: dict[str, Future[Drawn]] = {}
        self._thread = ThreadPoolExecutor(1, "figures")
        self._stopped = threading.Event()
        self._lab = lab.beside(self._look)

    def __enter__(self) -> Drawing:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.shutdown(cancel_futures=True)

    def begin(self, unmeasured: list[Claim]) -> None:
        """Begin the figures that no unmeasured claim shows."""
        shown = {figure for claim in unmeasured for figure in claim.figures}
        for figure in [figure for figure in self._waiting if figure.id not in shown]:
            self._waiting.remove(figure)
            self._drawn[figure.id] = self._thread.submit(draw, self._lab, figure)

    def drawn(self, figure: Figure) -> Drawn:
        """Wait for a figure."""
        return self._drawn[figure.id].result()

    def _look(self, _: float) -> None:
        if self._stopped.is_set():
            raise KeyboardInterrupt
