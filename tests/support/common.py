"""What whole-system tests share: places, the recorded traces, runs with all their bytes."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support import started
from tidegate._ask.compiled import simulate
from tidegate._ask.scenario import Scenario

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
TEMPLATES = ROOT / "python" / "tidegate" / "_ask" / "templates"
PAPERS = ROOT / "papers" / "tidegate_papers"
INDEPENDENT = ROOT / "tests" / "independent"
#: Recorded links; they are not part of the project.
TRACES = Path(os.environ.get("TIDEGATE_TRACES", ROOT.parent / "shared" / "traces"))

#: Runs commands.
WAITING = started.Waiting()

#: A scenario that takes a moment.
SMALL = """\
title = "Small"
duration = "6 s"
warmup = "1 s"

[gate.bottleneck]
rate = "4 Mbit/s"
queue = "20 packets"
delay = "10 ms"
loss = 0.002

[flow.bulk]
path = ["bottleneck"]
rtt = "30 ms"
tcp.cc = "newreno"
tcp.base = "rfc"
"""


def benchmark(name: str) -> ModuleType:
    """Load a file of `benches` by its path; its folder is not searched, as names there are names here too."""
    known = f"benchmark_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, ROOT / "benches" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[known] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]


def trace(name: str) -> Path:
    """Return a recorded link, or skip the test."""
    path = TRACES / name
    if not path.is_file():
        pytest.skip(f"no {name} in {TRACES} (set TIDEGATE_TRACES)")
    return path


def summary(text: str, *, seed: int = 1, sets: tuple[str, ...] = (), **options: Any) -> dict[str, Any]:
    """Run a scenario given as text, without columns, and return its summary."""
    scenario = Scenario.from_toml(text, changes=list(sets))
    data = simulate(scenario, seed=seed, record="summary", **options)
    found: dict[str, Any] = json.loads(data.summary_json)
    return found


def everything(scenario: Scenario, *, seed: int, **options: Any) -> dict[str, str]:
    """Run and return a digest of the summary and of every column, so that a difference has a name.

    ``events`` is left out of the summary: it says how a run was worked through, not what
    came out, and run-ahead exists to make it smaller.
    """
    data = simulate(scenario, seed=seed, **options)
    result = json.loads(data.summary_json)
    result.pop("events", None)
    found = {f"summary.{key}": json.dumps(value) for key, value in result.items()}
    found["warnings"] = json.dumps(data.warnings)
    for table, columns in data.tables.items():
        for column, (kind, values) in columns.items():
            found[f"{table}.{column}"] = f"{kind} {len(values)} {hashlib.sha256(values).hexdigest()}"
    return found


def first_difference(one: dict[str, str], other: dict[str, str]) -> str:
    """Name what differs first; empty where nothing does."""
    for key in sorted(one.keys() | other.keys()):
        if one.get(key) != other.get(key):
            return f"{key}:\n  {one.get(key)}\n  {other.get(key)}"
    return ""


def python(code: str, *, cwd: Path | None = None, **environment: str) -> str:
    """Run code in another Python process and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=100,
    )
    return done.stdout


def tidegate(
    *arguments: str | Path, cwd: Path | None = None, seconds: float = 100, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command line, for so many seconds at most; what it writes is never a traceback."""
    words = list(map(str, arguments))
    if any(name.startswith(started.ONLY_AT_THE_START) for name in environment):
        done = subprocess.run(
            [sys.executable, "-m", "tidegate", *words],
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=cwd,
            timeout=seconds,
            env={**os.environ, **environment},
            check=False,
        )
    else:
        done = WAITING.run(words, cwd=cwd, seconds=seconds, environment={**os.environ, **environment})
    assert "Traceback" not in done.stderr, done.stderr
    return done


def command(*arguments: str | Path, cwd: Path | None = None) -> str:
    """Run the command line in a process of its own, which has to succeed, and return its standard output."""
    done = tidegate(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout
