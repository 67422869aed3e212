"""User processor time of what a person waits for: ``python benches/people.py [ROW …]``.

Each command is a process of its own and is run ``--rounds`` times, in turn with the same command of
``--against PYTHON``, another installed Tidegate, such as the last release. The table gives the median of user
time, its least and greatest, in seconds. A median that is over 10% above the other's ends with status 1.
Bytecode and font caches are warm, as they are from the second command of an installed package on; only "first
picture" has no font cache. ``--all --page docs/design/waiting.md`` writes the page of the documentation.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

from programs import ROOT
from tables import table

#: So much more than the other fails.
MOST = 1.10
#: Differences below this are not told from none, seconds.
LEAST_S = 0.015

#: Rounds of what takes many seconds.
LONG_ROUNDS = 3
#: Answers of the laboratory in one process, after one that warms it.
ANSWERS = 20
_ANSWER = """\
import resource, sys
from pathlib import Path
from tidegate._lab.limits import Limits
from tidegate._lab.work import answer
path = Path(sys.argv[1])
job = {{"do": "run", "text": path.read_text(), "folder": str(path.parent)}}
for number in range({count} + 1):
    assert answer(job, Limits(), lambda _: True)["status"] == 200
    if number == 0:
        begun = resource.getrusage(resource.RUSAGE_SELF).ru_utime
print((resource.getrusage(resource.RUSAGE_SELF).ru_utime - begun) / {count})
"""


@dataclass(frozen=True)
class Row:
    """A command: its words after ``tidegate``, and what is true of it."""

    words: list[str]
    #: Only when it is named.
    long: bool = False
    #: Its cache of fonts is empty.
    fresh: bool = False
    #: What is run once before, in the same folder.
    before: tuple[str, ...] = ()
    #: A program that prints its figure itself, instead of a command.
    program: str = ""


def _example(name: str) -> str:
    return str(ROOT / "examples" / f"{name}.toml")


LTE = _example("lte")
COMPARE = [
    "compare", _example("policer"), "--vary", "flow.bulk.tcp.cc=reno,cubic",
    "--vary", "gate.isp.police.burst=30 kB,60 kB,120 kB",
]  # fmt: skip
STUDY = [
    "study", _example("random-loss"), "--vary", "flow.bulk.rtt=20 ms,40 ms,80 ms,160 ms",
    "--vary", "flow.bulk.tcp.cc=reno,cubic,bbr", "--runs", "30", "--workers", "1",
]  # fmt: skip
ROWS = {
    "version": Row(["--version"]),
    "run": Row(["run", LTE]),
    "run png": Row(["run", LTE, "--plot", "x.png"]),
    "run svg": Row(["run", LTE, "--plot", "x.svg"]),
    "run report": Row(["run", LTE, "--report", "x.html"]),
    "first picture": Row(["run", LTE, "--plot", "x.png"], fresh=True),
    "compare": Row(COMPARE),
    "compare png": Row([*COMPARE, "--plot", "x.png"]),
    "compare svg": Row([*COMPARE, "--plot", "x.svg"]),
    "study": Row([*STUDY, "--no-store"]),
    "study stored": Row([*STUDY, "--store", "kept"], before=(*STUDY, "--store", "kept")),
    "shaped png": Row(["run", _example("shaped"), "--plot", "x.png"]),
    "lab lte": Row([LTE], program=_ANSWER.format(count=ANSWERS)),
    "lab uplink": Row([_example("uplink")], program=_ANSWER.format(count=ANSWERS)),
    "tune": Row(["tune", _example("follow"), "--no-store", "--workers", "1"], long=True),
    "reproduce dtm": Row(
        ["reproduce", "dtm", "--quick", "--no-store", "--workers", "1", "--out", "dtm", "--force"], long=True
    ),
    "reproduce dtm in full": Row(
        ["reproduce", "dtm", "--no-store", "--workers", "1", "--out", "dtm", "--force"], long=True
    ),
}


class FailedError(Exception):
    """A command did not end well."""


class Installed:
    """An interpreter that has Tidegate, with caches and a folder of its own."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.python = python
        self.folder = folder
        self.place = folder / "work"
        self.place.mkdir(parents=True)
        self._fresh = 0

    def version(self) -> str:
        """Return the name and version of what is installed."""
        command = [str(self.python), "-m", "tidegate", "--version"]
        return subprocess.check_output(command, text=True, cwd=self.place).split("\n")[0]

    def user_s(self, row: Row) -> float:
        """Run a row once and return its user time with that of its children, seconds."""
        command = ["-c", row.program] if row.program else ["-m", "tidegate"]
        return self._run([*command, *row.words], fresh=row.fresh, told=bool(row.program))

    def knows(self, row: Row) -> bool:
        """Run a row once, and return whether this Tidegate can."""
        try:
            self.begin(row)
            self.user_s(row)
        except FailedError:
            return False
        return True

    def begin(self, row: Row) -> None:
        """Make what a row needs, and fill its caches."""
        if row.before:
            self._run(["-m", "tidegate", *row.before], fresh=False, told=False)
        if not row.fresh and not row.program:
            self.user_s(row)

    def _run(self, words: list[str], *, fresh: bool, told: bool) -> float:
        fonts = self.folder / "fonts"
        if fresh:
            self._fresh += 1
            fonts = self.folder / f"fonts-{self._fresh}"
        others = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        # Without a folder of its own, a package is not kept compiled where it cannot be written.
        caches = {"PYTHONPYCACHEPREFIX": str(self.folder / "bytecode"), "MPLCONFIGDIR": str(fonts)}
        command = [str(self.python), *words]
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                command, stdout=output, stderr=errors, cwd=self.place, env={**others, **caches}
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            errors.seek(0)
            if process.returncode != 0:
                raise FailedError(f"{' '.join(words)}:\n{errors.read().decode()[-2000:]}")
            return float(output.read()) if told else usage.ru_utime


def measure(
    names: list[str], rounds: int, ours: Installed, theirs: Installed | None
) -> tuple[list[list[str]], list[str]]:
    """Return the table's lines, and the rows that have become slower."""
    lines, slower = [], []
    for name in names:
        row = ROWS[name]
        ours.begin(row)
        both = [ours, *([theirs] if theirs is not None and theirs.knows(row) else [])]
        times: list[list[float]] = [[] for _ in both]
        for _ in range(min(rounds, LONG_ROUNDS) if row.long else rounds):
            for each, found in zip(both, times, strict=True):
                found.append(each.user_s(row))
        middle = [median(found) for found in times]
        # An answer takes milliseconds, and is the mean of many.
        least = LEAST_S / (ANSWERS if row.program else 1)
        cells = [name, *(_spread(found) for found in times)]
        if theirs is not None and len(both) == 1:
            cells += ["-", "-"]
        elif theirs is not None:
            cells.append(f"{middle[0] / middle[1]:.2f}")
            if middle[0] > MOST * middle[1] and middle[0] - middle[1] > least:
                slower.append(name)
        lines.append(cells)
    return lines, slower


def _spread(times: list[float]) -> str:
    digits = 3 if median(times) < 1 else 2
    return f"{median(times):.{digits}f} ({min(times):.{digits}f}-{max(times):.{digits}f})"


def _asked(row: Row) -> str:
    """Return what a row runs, as one would type it."""
    if row.program:
        return f"an answer of the laboratory, `{Path(row.words[0]).name}`"
    words = [word.replace(f"{ROOT}/", "") for word in row.words]
    said = f"`tidegate {shlex.join(words)}`"
    return f"{said}, no font cache" if row.fresh else f"{said}, all in the store" if row.before else said


def page(head: list[str], lines: list[list[str]], rounds: int, against: str) -> str:
    """Return the page of the documentation: what was run, and its times."""
    commit = subprocess.check_output(["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, text=True).strip()
    day = datetime.now(tz=UTC).date()
    beside = f", in turn with the same command of {against}, which has its own defaults" if against else ""
    long = f", and of {LONG_ROUNDS} where a run takes many seconds" if rounds > LONG_ROUNDS else ""
    rows = ["| " + " | ".join(["what", *head[1:]]) + " |", "|---" * len(head) + "|"]
    rows += ["| " + " | ".join([_asked(ROWS[name]), *cells]) + " |" for name, *cells in lines]
    return (
        "<!-- Made by benches/people.py; do not edit. -->\n\n# What a person waits for\n\n"
        "In one sentence: what is typed at a prompt is measured as a whole, with start and drawing, of "
        "which the simulation is often the smallest part.\n\n"
        f"User processor time in seconds: the median of {rounds} runs (least-greatest){long}{beside}.\n"
        f"Measured at commit {commit} on {day}, on a virtual machine with two cores that other work shared.\n"
        "Bytecode and font caches are warm unless the row says otherwise.\n\n"
        + "\n".join(rows)
        + "\n\nTo measure again: `.venv/bin/python benches/people.py --all --page docs/design/waiting.md`.\n"
        "With `--against PYTHON`, an interpreter that has another Tidegate, a median that is over "
        f"{MOST - 1:.0%} above the other's fails.\n"
    )


def main() -> None:
    """Measure the rows that are named, or those that take a minute together."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--against", type=Path, metavar="PYTHON", help="an interpreter with another Tidegate")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--all", action="store_true", help="those that take minutes, too")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the page of the documentation")
    told = parser.parse_args()
    if unknown := [name for name in told.rows if name not in ROWS]:
        parser.error(f"there is no row {unknown[0]}; there are {', '.join(ROWS)}")
    names = told.rows or [name for name, row in ROWS.items() if told.all or not row.long]
    with tempfile.TemporaryDirectory() as folder:
        ours = Installed(Path(sys.executable), Path(folder) / "ours")
        theirs = None if told.against is None else Installed(told.against, Path(folder) / "theirs")
        lines, slower = measure(names, told.rounds, ours, theirs)
        head = ["command", "user time, s", *([] if theirs is None else [theirs.version(), "ratio"])]
    table(f"User processor time, median of {told.rounds} (least-greatest)", head, lines)
    if told.page:
        told.page.write_text(
            page(head, lines, told.rounds, "" if theirs is None else head[2]), encoding="utf-8"
        )
    if slower:
        raise SystemExit(f"over {MOST - 1:.0%} slower than the other: {', '.join(slower)}")


if __name__ == "__main__":
    main()
