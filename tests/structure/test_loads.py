"""What each command may load: libraries that start more slowly than a run, only where they do something."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.common import EXAMPLES, command

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = ("dask", "jinja2", "matplotlib", "numpy", "polars", "pyarrow", "resvg_py", "scipy")
LINK, LOSS = str(EXAMPLES / "lte.toml"), str(EXAMPLES / "random-loss.toml")
SHORT = ["--set", "duration=8 s"]
VARY = ["--vary", "flow.bulk.rtt=20 ms,40 ms", *SHORT]
STUDY = ["study", LOSS, *VARY, "--runs", "2", "--workers", "1", "--store", "kept"]

#: A command, and what it may load beside the standard library and click.
MAY: dict[str, tuple[list[str], set[str]]] = {
    "check": (["check", LINK], set()),
    "export": (["export", "tc", str(EXAMPLES / "shaper.toml")], set()),
    "traces info": (["traces", "info", str(EXAMPLES / "cellular.csv")], set()),
    "traces info --plot svg": (
        ["traces", "info", str(EXAMPLES / "cellular.csv"), "--plot", "x.svg"],
        {"numpy"},
    ),
    "run": (["run", LINK, *SHORT], set()),
    "run --perturb": (["run", LINK, *SHORT, "--perturb", "2"], set()),
    "run --csv": (["run", LINK, *SHORT, "--csv", "x.csv"], {"polars"}),
    "run --out": (["run", LINK, *SHORT, "--out", "kept"], {"numpy", "polars"}),
    "run --plot png": (["run", LINK, *SHORT, "--plot", "x.png"], {"numpy", "resvg_py"}),
    "run --plot svg": (["run", LINK, *SHORT, "--plot", "x.svg"], {"numpy"}),
    "run --report": (["run", LINK, *SHORT, "--report", "x.html"], {"jinja2", "numpy"}),
    "compare": (["compare", LOSS, *VARY], set()),
    "compare --plot svg": (["compare", LOSS, *VARY, "--plot", "x.svg"], {"numpy"}),
    "compare --report": (["compare", LOSS, *VARY, "--report", "x.html"], {"jinja2", "numpy"}),
    "identify": (["identify", "kept/packets.pcap"], {"numpy"}),
    "identify --plot svg": (["identify", "kept/packets.pcap", "--plot", "x.svg"], {"numpy"}),
    "identify --report": (
        ["identify", "kept/packets.pcap", "--report", "x.html"],
        {"jinja2", "numpy"},
    ),
    "size": (
        [
            "size",
            str(EXAMPLES / "many.toml"),
            "--set",
            "duration=12 s",
            "--gate",
            "bottleneck",
            "--runs",
            "2",
            "--no-store",
        ],
        {"numpy"},
    ),
    "study": (STUDY, set()),
    "study --json": ([*STUDY, "--json"], set()),
    "study --plot svg": ([*STUDY, "--plot", "x.svg"], {"numpy"}),
    "study --report": ([*STUDY, "--report", "x.html"], {"jinja2", "numpy", "polars"}),
    "study --csv": ([*STUDY, "--csv", "x.csv"], {"polars"}),
}


#: Of the standard library, what takes a millisecond or more and no run needs.
SLOW = ("concurrent.futures", "secrets", "socket", "statistics", "subprocess", "tomllib")


@pytest.mark.parametrize(
    "more", [[], ["--plot", "x.svg"], ["--report", "x.html"]], ids=["text", "svg", "report"]
)
def test_a_run_loads_no_slow_module_that_it_does_not_need(more: list[str], tmp_path: Path) -> None:
    assert loaded(["run", LINK, *SHORT, *more], SLOW, tmp_path) == set()


@pytest.mark.parametrize("name", MAY)
def test_a_command_loads_only_what_it_uses(name: str, tmp_path: Path) -> None:
    words, may = MAY[name]
    if "kept/packets.pcap" in words:
        command("run", LINK, *SHORT, "--out", "kept", "--pcap", cwd=tmp_path)
    found = loaded(words, HEAVY, tmp_path)
    assert found <= may
    # A table that allows more than is needed would not notice what comes in.
    assert found == may, "the table allows what this command no longer loads"


def loaded(words: list[str], modules: tuple[str, ...], folder: Path) -> set[str]:
    """Return which of these modules a command loads."""
    code = (
        "import sys\nfrom tidegate._cli.main import cli\n"
        f"cli.main({words!r}, standalone_mode=False)\n"
        f"print(*[m for m in {modules!r} if m in sys.modules], sep=',', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    last = done.stderr.splitlines()[-1] if done.stderr else ""
    return {each for each in last.split(",") if each in modules}
