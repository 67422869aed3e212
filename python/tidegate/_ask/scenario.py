"""Scenarios: reading, changing, explaining. Running them is ``_run``'s work."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from tidegate import _core
from tidegate._ask.changes import Sets, as_sets, document_text
from tidegate._ask.link import Link, is_trace, looks_like_trace, no_scenario
from tidegate._base.calls import checked, checked_methods
from tidegate._base.files import readable
from tidegate._base.text import counted
from tidegate._base.written import TO_WRITE, check_outputs, note_inputs
from tidegate.errors import ArgumentError, ScenarioError

#: Whether messages may quote files outside a scenario's folder where no call says so: ``--allow-outside``.
OUTSIDE: ContextVar[bool] = ContextVar("OUTSIDE", default=False)

#: What becomes of controllers in Python that a scenario names: "runs"; "edits": only those that ``changes``
#: names run, others are refused; "told": nothing is run, and a warning says what would be. A program's own
#: calls run them; the commands say which they mean.
OWN_CODE: ContextVar[str] = ContextVar("OWN_CODE", default="runs")


def _allowed(allow_outside: bool | None) -> bool:
    return OUTSIDE.get() if allow_outside is None else allow_outside


@functools.cache
def _standard_input() -> str:
    """Return what standard input holds, also when it is asked for again."""
    return sys.stdin.read()


def _first(name: str) -> str:
    """Return the beginning of a file."""
    with Path(name).open(encoding="utf-8", errors="replace") as file:
        return file.read(4096)


@checked_methods
class Scenario:
    """A scenario that passed every check, with every default filled in.

    Made by :func:`load`, :meth:`from_toml` or :meth:`from_dict`; never changed afterwards.
    """

    __slots__ = ("_inner", "_label", "_laws", "_sets")

    def __init__(self, inner: _core.Scenario, label: str, sets: Sequence[str] = ()) -> None:
        traces = [each["path"] for each in inner.inputs]
        note_inputs(traces)
        if names := TO_WRITE.get():
            check_outputs(traces, names)
        self._inner = inner
        self._label = label
        #: The changes it was read with.
        self._sets = tuple(sets)
        #: As JSON, when they were asked for: every run of a study asks.
        self._laws: str | None = None

    @staticmethod
    @checked
    def load(
        path: str | os.PathLike[str],
        *,
        changes: Sets = None,
        allow_outside: bool | None = None,
    ) -> Scenario:
        """Read a scenario file, TOML or (by its suffix ``.json``) JSON; ``"-"`` is standard input.

        A link trace (``.down``, ``.up``, ``.drp``, ``.csv``) stands for one download over it, with CUBIC.

        ``changes`` are made to its keys before the checks, as ``--set`` does. Traces are looked for
        beside the file. A message about a trace quotes numbers in it only where it lies in the
        file's folder, or ``changes`` names it by an absolute path; with ``allow_outside=True``
        wherever it lies.

        Raises:
            ScenarioError: the scenario is wrong; the message says where and how to mend it.
            TraceError: a trace it names is wrong.
            OSError: a file cannot be read (``FileNotFoundError`` and so on).
        """
        name = os.fspath(path)
        if "\n" in name:
            raise ArgumentError(
                "this is a scenario's text, not a path; use tidegate.Scenario.from_toml(text)"
            )
        if name == "-":
            return Scenario.from_toml(
                _standard_input(), name="standard input", changes=changes, allow_outside=allow_outside
            )
        readable(name)
        note_inputs([name])
        if is_trace(name):
            text = Link(trace=name).toml()
            return Scenario.from_toml(text, name=name, changes=changes, allow_outside=allow_outside)
        try:
            sets, outside = as_sets(changes), _allowed(allow_outside)
            return Scenario(_core.Scenario.load(name, sets, outside, OWN_CODE.get()), name, sets)
        except ScenarioError as error:
            if "this is not TOML" in str(error) and looks_like_trace(_first(name)):
                raise no_scenario(name) from None
            raise

    @staticmethod
    @checked
    def from_toml(
        text: str,
        *,
        name: str = "scenario",
        folder: str | os.PathLike[str] | None = None,
        changes: Sets = None,
        allow_outside: bool | None = None,
    ) -> Scenario:
        """Check a scenario given as TOML text.

        ``name`` stands for the file in messages; trace paths are relative to ``folder``
        (the working folder when left out). Raises as :meth:`load`.
        """
        base = None if folder is None else os.fspath(folder)
        sets, outside = as_sets(changes), _allowed(allow_outside)
        code = OWN_CODE.get()
        return Scenario(_core.Scenario.from_toml(text, name, base, sets, outside, own_code=code), name, sets)

    @staticmethod
    def confined(text: str, *, name: str, folder: str | os.PathLike[str]) -> Scenario:
        """Check a scenario that comes from somebody else, given as TOML text.

        Files are read only in ``folder``, links followed, and a controller in Python is refused. Raises as
        :meth:`load`.
        """
        return Scenario(_core.Scenario.from_toml(text, name, os.fspath(folder), [], False, True), name)

    @staticmethod
    def given(
        text: str,
        *,
        name: str,
        files: Sequence[tuple[str, bytes]],
        folder: str | os.PathLike[str] | None = None,
    ) -> Scenario:
        """Check a scenario given as TOML text together with its files, by the names that it has for them.

        No file is opened; ``folder`` has the controllers in Python. Raises as :meth:`load`.
        """
        base = None if folder is None else os.fspath(folder)
        return Scenario(_core.Scenario.given(text, name, base, list(files)), name)

    @staticmethod
    @checked
    def from_dict(
        document: Mapping[str, Any],
        *,
        name: str = "scenario",
        folder: str | os.PathLike[str] | None = None,
        changes: Sets = None,
        allow_outside: bool | None = None,
    ) -> Scenario:
        """Check a scenario given as a dict of the file's keys. Raises as :meth:`load`."""
        base = None if folder is None else os.fspath(folder)
        # One key a line, so that a message can show the line.
        text = document_text(document)
        sets, outside = as_sets(changes), _allowed(allow_outside)
        # A dict is the caller's own, or made of a scenario that was let through.
        code = "told" if OWN_CODE.get() == "told" else "runs"
        return Scenario(_core.Scenario.from_json(text, name, base, sets, outside, code), name, sets)

    @property
    def name(self) -> str:
        """The file it came from, or the name it was given."""
        return self._label

    @property
    def stem(self) -> str:
        """A short name for files made from this scenario."""
        return Path(self._label).stem or "scenario"

    @property
    def title(self) -> str:
        """One line for people."""
        return self._inner.title

    @property
    def until_done(self) -> bool:
        """Whether the run ends when every finite transfer and every flow with a count of requests is done."""
        return self._inner.until_done

    @property
    def length_told(self) -> str:
        """The length of the run in words: "60 s", or "until done, 1000 s at most"."""
        return f"until done, {self.duration_s:g} s at most" if self.until_done else f"{self.duration_s:g} s"

    @property
    def duration_s(self) -> float:
        """Where the run ends, seconds; where it ends when all is done, the latest instant."""
        return self._inner.duration_s

    @property
    def warmup_s(self) -> float:
        """Where the summary begins to count, seconds."""
        return self._inner.warmup_s

    @property
    def seed(self) -> int | None:
        """The seed in the file; None when it names none."""
        return self._inner.seed

    @property
    def runs(self) -> int:
        """How many replications the scenario asks for."""
        return self._inner.runs

    @property
    def combinations(self) -> int:
        """How many combinations the scenario's ``[[sweep]]`` tables make; 1 without any."""
        return self._inner.combinations

    @property
    def records(self) -> bool:
        """Whether the scenario itself asks for columns beside the summary."""
        return self._inner.records

    @property
    def flow_names(self) -> list[str]:
        """The flows as written, before copies are made."""
        return self._inner.flow_names

    @property
    def gate_names(self) -> list[str]:
        """The gates as written, before copies are made."""
        return self._inner.gate_names

    @property
    def counts(self) -> tuple[int, int]:
        """How many flows and how many gates a run has, copies counted."""
        return self._inner.counts

    @property
    def warnings(self) -> list[str]:
        """What to look at before trusting the numbers."""
        return self._inner.warnings

    @property
    def inputs(self) -> list[dict[str, str]]:
        """The traces read, as ``{"name", "path", "sha256"}``."""
        return self._inner.inputs

    @property
    def computed_sizes(self) -> list[dict[str, str]]:
        """The sizes written as a time or in bandwidth-delay products: ``{"key", "written", "from", "size"}``.

        ``from`` says what a size is made of (``20 Mbit/s × 40 ms``), ``size`` what it came to (``100 kB``).
        """
        return [
            dict(zip(("key", "written", "from", "size"), row, strict=True))
            for row in self._inner.computed_sizes
        ]

    @property
    def draws(self) -> list[str]:
        """What a run draws from its seed, by the names of the random streams (``gate.link/rate``).

        Where there is nothing, every seed and every replication gives the same run.
        """
        return self._inner.draws

    def laws(self) -> dict[str, dict[str, Any]]:
        """Return by gate what a picture needs beside columns: queue limit, token bucket, contract."""
        if self._laws is None:
            self._laws = self._inner.laws_json()
        laws: dict[str, dict[str, Any]] = json.loads(self._laws)
        return laws

    def explain(self) -> str:
        """Return every default filled in, in words, with the consequences."""
        return self._inner.explain()

    def to_toml(self) -> str:
        """Return the scenario as it will run, changes included."""
        return self._inner.to_toml()

    def point(self, sets: Iterable[str]) -> Scenario:
        """Return the scenario with further changes and without its sweep.

        Raises:
            ScenarioError, TraceError: it is wrong with these changes.
        """
        return Scenario(self._inner.point(list(sets)), self._label)

    def __reduce__(self) -> tuple[Any, ...]:
        folder = str(Path(self._inner.base_dir or ".").resolve())
        return _again, (self.to_toml(), self._label, folder)

    def __repr__(self) -> str:
        flows, gates = len(self.flow_names), len(self.gate_names)
        return (
            f"<tidegate.Scenario {self._label!r}: {counted(flows, 'flow')}, {counted(gates, 'gate')}, "
            f"{self.length_told}>"
        )

    def _repr_html_(self) -> str:
        from tidegate._page.render import fragment
        from tidegate._page.sheet import Listing

        facts = (
            f"flows {', '.join(self.flow_names) or 'none'} · gates {', '.join(self.gate_names) or 'none'} · "
            f"{self.length_told}, measured from {self.warmup_s:g} s"
        )
        return fragment(self.title or self._label, facts, [Listing("The scenario as TOML", self.to_toml())])


def _again(text: str, name: str, folder: str) -> Scenario:
    """Make a scenario again from its text, in this or another process."""
    # It was let through when it was first read.
    return Scenario(_core.Scenario.from_toml(text, name, folder, [], _allowed(None)), name)


def load(
    path: str | os.PathLike[str],
    *,
    changes: Sets = None,
    allow_outside: bool | None = None,
) -> Scenario:
    """Read and check a scenario file; the same as :meth:`Scenario.load`."""
    return Scenario.load(path, changes=changes, allow_outside=allow_outside)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of scenario files."""
    result: dict[str, Any] = json.loads(_core.schema())
    return result


def reference() -> str:
    """Return every key of the scenario language, as Markdown."""
    return _core.reference()
