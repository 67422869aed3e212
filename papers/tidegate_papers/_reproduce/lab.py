"""Where a paper's claims are measured and its figures get their runs."""

from __future__ import annotations

import hashlib
import shlex
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tidegate._ask.changes import as_sets
from tidegate._ask.plan import plan_of
from tidegate._ask.source import as_scenario
from tidegate._base.nearest import nearest
from tidegate._jobs.function import checked_plain
from tidegate._jobs.job import name_of
from tidegate._jobs.store import Store
from tidegate._jobs.workers import Local
from tidegate._run.start import execute
from tidegate._run.tcp_words import tcp_words
from tidegate._study.points import prepare
from tidegate._study.start import execute_study
from tidegate.errors import TooFewRunsError, UnknownNameError

from tidegate_papers._reproduce.verdict import LEAST_RUNS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import TypeVar

    from tidegate._jobs.job import Measure
    from tidegate._run.value import Run
    from tidegate._study.value import Study

    from tidegate_papers._reproduce.points import Points

    T = TypeVar("T")
    Ran = TypeVar("Ran", Run, Study)


def scenarios(folder: Path) -> list[Path]:
    """Return the scenario files of a paper's folder, by name."""
    return sorted(folder.glob("*.toml"))


@dataclass
class Lab:
    """Where claims are measured and figures get their runs: studies with the store behind them.

    Keeps a list of the commands that make the same runs again.
    """

    #: The paper's folder.
    folder: Path
    quick: bool = False
    workers: int | None = None
    store: Store = field(default_factory=lambda: Store(None))
    progress: Callable[[float], None] | None = None
    #: The claim being measured is on chaotic TCP: studies of fewer runs are refused.
    chaotic: bool = False
    #: How many points a quick run leaves out on which the claim being measured is to be judged.
    untried: int = 0
    commands: list[str] = field(default_factory=list)
    #: The TCPs that ran since they were last taken, as manifests name them.
    tcps: list[str] = field(default_factory=list)
    #: The folder of its scenarios, if that is another one.
    scenarios_in: Path | None = None
    _studies: dict[str, Study] = field(default_factory=dict)
    _runs: dict[str, Run] = field(default_factory=dict)
    _live: dict[str, list[Run]] = field(default_factory=dict)
    #: One study at a time: each takes all workers, and the store takes one.
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def beside(self, progress: Callable[[float], None]) -> Lab:
        """Return a lab for another thread, which shares what is done and notes commands of its own."""
        return replace(self, progress=progress, chaotic=False, untried=0, commands=[], tcps=[])

    def file(self, name: str) -> Path:
        """Return a scenario file of the paper by its stem.

        Raises:
            UnknownNameError: there is none.
        """
        known = {path.stem: path for path in scenarios(self.scenarios_in or self.folder)}
        if name not in known:
            raise UnknownNameError(nearest("scenario", name, known))
        return known[name]

    def points(self, points: Points[T]) -> tuple[T, ...]:
        """Return the points of a curve, a figure or a note: no verdict rests on each of them."""
        return points.quick if self.quick else points.every

    def judged(self, points: Points[T]) -> tuple[T, ...]:
        """Return the points on which the claim being measured is judged.

        What a quick run leaves out of them is counted, and the judgement says that it was not tried:
        see :func:`tidegate_papers._reproduce.parts.with_untried`.
        """
        self.untried += self.left_out(points)
        return self.points(points)

    def left_out(self, points: Points[T]) -> int:
        """Return how many of the points a quick run does not try."""
        return len(points.every) - len(self.points(points))

    def study(
        self,
        name: str,
        *,
        vary: Mapping[str, Sequence[Any]] | None = None,
        changes: Mapping[str, Any] | None = None,
        runs: int = LEAST_RUNS,
        gate: str | None = None,
        measure: Measure | None = None,
        record: str | None = None,
    ) -> Study:
        """Study a scenario of the paper; the same study is done once.

        Raises:
            TooFewRunsError: a claim on chaotic TCP asks for fewer than 16 runs.
        """
        if self.chaotic and runs < LEAST_RUNS:
            raise TooFewRunsError(
                f"{name}: a claim on chaotic TCP is judged on {LEAST_RUNS} runs or more, not on {runs}"
            )
        file = self.file(name)
        if measure is not None:
            checked_plain(measure, name_of(measure))
        self._note(self._command("study", name, vary, changes, ["--runs", str(runs)]))
        asked = repr((name, vary, changes, runs, gate, measure, record))
        if asked in self._studies:
            return self._noted(self._studies[asked])
        prepared = prepare(file, vary or {}, changes, runs=runs, equal_runs=True)
        with self._turn:
            if asked not in self._studies:
                self._studies[asked] = execute_study(
                    prepared,
                    workers=Local(self.workers),
                    store=self.store,
                    gate=gate,
                    measure=measure,
                    measure_version=None if measure is None else self._version(),
                    record=record,
                    progress=self.progress,
                )
        return self._noted(self._studies[asked])

    def run(
        self,
        name: str,
        *,
        changes: Mapping[str, Any] | None = None,
        replication: int = 0,
        record: str = "50 ms",
    ) -> Run:
        """Run a scenario of the paper once, with columns, for a picture."""
        file = self.file(name)
        extra = ["--replication", str(replication), "--record", record]
        self._note(self._command("run", name, None, changes, extra))
        asked = repr((name, changes, replication, record))
        if asked not in self._runs:
            scenario = as_scenario(file, changes)
            self._runs[asked] = execute(scenario, replication=replication, record=record, quiet=True)
        return self._noted(self._runs[asked])

    def live(
        self,
        name: str,
        *,
        changes: Mapping[str, Any] | None = None,
        runs: int = 3,
        record: str = "10 ms",
    ) -> list[Run]:
        """Run a scenario of the paper with the kernel's TCP, one run after the other; done once.

        Raises:
            EngineError: the live engine cannot run here; the message says why.
        """
        file = self.file(name)
        self._note(self._command("run", name, None, changes, ["--engine", "live", "--record", record]))
        asked = repr((name, changes, runs, record))
        with self._turn:
            if asked not in self._live:
                self._live[asked] = [
                    execute(
                        as_scenario(file, changes), engine="live", replication=number, record=record,
                        tick=self._tick(number, runs), quiet=True,
                    )
                    for number in range(runs)
                ]  # fmt: skip
        return [self._noted(run) for run in self._live[asked]]

    def _tick(self, number: int, runs: int) -> Callable[[float], bool]:
        def tick(share: float) -> bool:
            if self.progress is not None:
                self.progress((number + share) / runs)
            return True

        return tick

    def seed(self, name: str) -> int | None:
        """Return the seed of a scenario of the paper."""
        return as_scenario(self.file(name)).seed

    def tcp(self, *names: str) -> str:
        """Return the TCP of scenarios of the paper, as in the manifest of a run: ``reno, rfc``."""
        plans = [plan_of(as_scenario(self.file(name))) for name in names]
        return tcp_words({"tcp": flow["tcp"]["label"]} for plan in plans for flow in plan["flows"])

    def take_commands(self) -> list[str]:
        """Return the commands noted since the last call, each once."""
        taken = list(dict.fromkeys(self.commands))
        self.commands.clear()
        return taken

    def take_tcps(self) -> str:
        """Return the TCPs that ran since the last call, each once: ``reno, rfc; newreno, rfc``."""
        taken = "; ".join(dict.fromkeys(filter(None, self.tcps)))
        self.tcps.clear()
        return taken

    def _noted(self, found: Ran) -> Ran:
        """Note the TCP of a run or a study."""
        self.tcps.append(str(found.manifest["tcp"]))
        return found

    def _note(self, command: str) -> None:
        self.commands.append(command)

    def _command(
        self,
        what: str,
        name: str,
        vary: Mapping[str, Sequence[Any]] | None,
        changes: Mapping[str, Any] | None,
        extra: list[str],
    ) -> str:
        words = ["tidegate", what, f"{name}.toml"]
        for key, values in (vary or {}).items():
            texts = [as_sets({key: value})[0].split("=", 1)[1] for value in values]
            words += ["--vary", f"{key}={','.join(_quoted(text) for text in texts)}"]
        for change in as_sets(changes):
            words += ["--set", change]
        return shlex.join([*words, *extra])

    def _version(self) -> str:
        """Return a digest of the paper's Python files: what a measurement of theirs depends on."""
        hash_ = hashlib.sha256()
        for file in sorted(self.folder.glob("*.py")):
            hash_.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
        return hash_.hexdigest()


def _quoted(text: str) -> str:
    """Return a value of ``--vary``; one with commas in it needs quotes or brackets of its own."""
    plain = text[:1] in "[{\"'" or "," not in text
    return text if plain else f'"{text}"'
