"""The programs that are measured: ours, ns-2 and ns-3, and how one run of each is measured."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
#: Where the peers' scripts are; they are not part of the project.
PEERS = Path(os.environ.get("TIDEGATE_PEERS", ROOT.parent / "shared" / "peers"))
#: Between two looks at a program's memory.
_LOOK_S = 0.002
SCENARIOS = ("s1", "s2", "s3", "s3k")


@dataclass(frozen=True)
class Outcome:
    """One process: what it printed, what it cost."""

    values: dict[str, str]
    cpu_s: float
    memory_mib: float

    def number(self, key: str) -> float:
        """Return one of the printed values."""
        return float(self.values[key])


def run(command: list[str]) -> Outcome:
    """Run a program to its end; costs are user and system time and the largest resident set."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        memory = 0
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            memory = max(memory, _resident_kib(process.pid))
            time.sleep(_LOOK_S)
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed ({process.returncode}):\n{text}")
    values = dict(pair.split("=", 1) for pair in text.split() if "=" in pair)
    return Outcome(values, usage.ru_utime + usage.ru_stime, memory / 1024)


def _resident_kib(process: int) -> int:
    """Return the largest resident set so far; what ``wait4`` tells is at least the parent's own."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    return 0 if found is None else int(found[1])


def instructions(command: list[str]) -> tuple[int, Outcome]:
    """Count the instructions of a program with callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        done = run(
            ["valgrind", "--tool=callgrind", f"--log-file={log}", "--callgrind-out-file=/dev/null", *command]
        )
        found = re.search(r"Collected\s*:\s*(\d+)", log.read_text())
    if found is None:
        raise SystemExit("callgrind printed no count")
    return int(found[1]), done


def build_example(name: str) -> Path:
    """Build one of the simulator's example programs as a release is built, and return its path."""
    subprocess.run(
        [
            "cargo",
            "build",
            "--profile",
            "dist",
            "--locked",
            "--quiet",
            "-p",
            "tidegate-sim",
            "--example",
            name,
        ],
        cwd=ROOT,
        check=True,
    )
    return TARGET / "dist" / "examples" / name


def build_ours() -> Path:
    """Build the example program that runs the peers' scenarios and return its path."""
    return build_example("peers")


def ns2() -> str | None:
    """Return why ns-2 cannot run; None if it can."""
    if shutil.which("ns") is None:
        return "no ns-2 here (Debian package ns2)"
    return None


def ns2_script() -> Path:
    """Return the peers' scenarios for ns-2."""
    return PEERS / "ns2_tcp.tcl"


def no_scripts(name: str) -> str | None:
    """Return why the peers' scripts cannot be used; None if they can."""
    if not (PEERS / name).is_file():
        return f"no {name} in {PEERS} (set TIDEGATE_PEERS)"
    return None


def build_ns3() -> Path | str:
    """Build the peers' scenarios for ns-3 and return the program, or the reason why not."""
    missing = no_scripts("ns3_tcp.cc")
    if missing is not None:
        return missing
    return _build_ns3(PEERS / "ns3_tcp.cc", ["nix-vector-routing"])


def build_ns3_queues() -> Path | str:
    """Build the dumbbell of ``queues.py`` for ns-3 and return the program, or the reason why not."""
    return _build_ns3(Path(__file__).with_name("ns3_queues.cc"), ["traffic-control"])


def _build_ns3(source: Path, more: list[str]) -> Path | str:
    """Build a program with ns-3's libraries and some more of them; return it, or the reason why not."""
    if shutil.which("g++") is None:
        return "no g++ here, which builds ns-3's program"
    program = TARGET / "bench" / source.stem
    if program.is_file() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    libraries = ["core", "network", "internet", "point-to-point", "applications", *more]
    done = subprocess.run(
        [
            "g++",
            "-O2",
            "-std=c++17",
            str(source),
            "-o",
            str(program),
            *(f"-lns3-{name}" for name in libraries),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        return "ns-3's program does not build (Debian package libns3-dev)"
    return program
