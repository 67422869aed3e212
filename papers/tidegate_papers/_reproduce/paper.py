"""What a paper's folder holds: scenarios, claims, figures.

A paper is a folder of ``tidegate_papers``: scenario files, ``claims.py`` (``TITLE``, ``SOURCE``, ``QUICK``,
``CLAIMS``) and ``figures.py`` (``FIGURES``). No list elsewhere names it. Where ``claims.py`` has
``SCENARIOS_IN``, the scenario files are in that folder instead.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._base.nearest import nearest
from tidegate.errors import EngineError, UnknownNameError

from tidegate_papers._reproduce.lab import scenarios

if TYPE_CHECKING:
    from tidegate_papers._reproduce.claim import Claim, Figure

#: A paper is a folder in here.
FOLDER = Path(__file__).parents[1]


@dataclass(frozen=True)
class Paper:
    """A paper's claims and figures."""

    name: str
    title: str
    source: str
    folder: Path
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    #: What --quick leaves out, in a sentence.
    quick: str = ""
    #: Which engine its claims are measured with.
    engine: str = "sim"
    #: The folder of its scenarios, if that is another one.
    scenarios_in: Path | None = None

    def scenarios(self) -> list[Path]:
        """Return the scenario files, by name."""
        return scenarios(self.scenarios_in or self.folder)


def names() -> list[str]:
    """Return the names of the papers that there are."""
    return sorted(path.parent.name.replace("_", "-") for path in FOLDER.glob("*/claims.py"))


def live_names() -> list[str]:
    """Return the names of the papers whose experiment is made with the kernel's TCP as well."""
    return sorted(path.parent.name.replace("_", "-") for path in FOLDER.glob("*/live.py"))


def open_paper(name: str, engine: str = "sim") -> Paper:
    """Return a paper by name, with what is measured by an engine.

    Raises:
        UnknownNameError: there is none; the message offers the nearest.
        EngineError: nothing of it is measured by this engine.
    """
    if name not in names():
        raise UnknownNameError(nearest("paper", name, names()))
    module = name.replace("-", "_")
    if engine == "live":
        if name not in live_names():
            there = ", ".join(live_names())
            raise EngineError(
                f'the paper {name} has no part for the engine "live"; these papers have one: {there}'
            )
        live = importlib.import_module(f"tidegate_papers.{module}.live")
        return Paper(
            name=name,
            title=live.TITLE,
            source=live.SOURCE,
            folder=FOLDER / module,
            claims=tuple(live.CLAIMS),
            figures=tuple(live.FIGURES),
            quick=live.QUICK,
            engine=engine,
        )
    claims = importlib.import_module(f"tidegate_papers.{module}.claims")
    figures = importlib.import_module(f"tidegate_papers.{module}.figures")
    return Paper(
        name=name,
        title=claims.TITLE,
        source=claims.SOURCE,
        folder=FOLDER / module,
        claims=tuple(claims.CLAIMS),
        figures=tuple(figures.FIGURES),
        quick=claims.QUICK,
        scenarios_in=getattr(claims, "SCENARIOS_IN", None),
    )
