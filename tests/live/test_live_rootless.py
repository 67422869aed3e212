"""The live engine without root: as nobody, who makes a user namespace."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from live.test_live import LINK
from support.common import ROOT

NOBODY = 65_534
pytestmark = pytest.mark.live

#: Into the namespace before anything starts threads.
PYTEST_INSIDE = """
import sys
from tidegate import _core
_core.live_enter()
import pytest
sys.exit(pytest.main(sys.argv[1:]))
"""

#: An interpreter in a folder that is root's alone, such as /root, is shown to nobody: in a mount namespace
#: of the test's own, the closed folder ($1) has nothing in it but the interpreter's ($2).
SHOWN = """
place=$(mktemp -d) && mount --bind "$2" "$place" && mount -t tmpfs -o mode=755 none "$1" &&
mkdir -p "$2" && mount --move "$place" "$2" && rmdir "$place" && shift 2 && exec "$@"
"""
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]

Rootless = Callable[[list[str]], subprocess.CompletedProcess[str]]


def as_nobody() -> list[str]:
    """Return what to put before a command so that nobody runs it."""
    base = Path(sys.base_prefix).resolve()
    closed = [folder for folder in reversed(base.parents) if not folder.stat().st_mode & 0o001]
    if not closed:
        return AS_NOBODY
    private = ["unshare", "--mount", "--propagation", "private"]
    return [*private, "sh", "-c", SHOWN, "sh", str(closed[0]), str(base), *AS_NOBODY]


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Return a folder that everybody may enter; pytest closes its own to others, for all tests at once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def rootless(tmp_path: Path) -> Rootless:
    """Run Python as nobody (as this user, where it is not root); skips where that cannot make namespaces."""
    before = as_nobody() if os.geteuid() == 0 else []
    home = tmp_path / "home"
    home.mkdir()
    if before:
        os.chown(home, NOBODY, NOBODY)
    kept = {key: value for key, value in os.environ.items() if key != "XDG_RUNTIME_DIR"}
    own = {"HOME": str(home), "MPLCONFIGDIR": str(home), "TMPDIR": str(home), "TIDEGATE_STORE": str(home)}

    def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, sys.executable, *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=100,
            cwd=home,
            env={**kept, **own, "PYTHONDONTWRITEBYTECODE": "1"},
            check=False,
        )

    try:
        there = run(["-c", "from tidegate import _core; _core.live_enter()"])
    except OSError as error:
        pytest.skip(f"without root: {error}")
    if there.returncode != 0:
        pytest.skip(f"without root: {(there.stderr.strip() or 'it ended').splitlines()[-1]}")
    return run


def test_the_command_makes_its_own_namespace(rootless: Rootless, tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    quick = ["--set", "duration=1 s", "--set", "warmup=200 ms", "--json"]
    done = rootless(["-m", "tidegate", "run", str(file), "--engine", "live", *quick])
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["engine"] == "live"
    assert sum(flow["goodput_bps"] for flow in summary["flows"]) > 1e6
    clean = rootless(["-m", "tidegate", "live", "clean", "--json"])
    assert (clean.returncode, json.loads(clean.stdout)) == (0, {"runs": [], "processes": []})


def test_a_shell_has_an_empty_network_at_its_other_end(rootless: Rootless, tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    file.write_text(LINK)
    ask = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'?', ('{}', 9))"
    for host, count in (("10.77.0.1", 0), ("192.0.2.1", 1)):
        program = [sys.executable, "-c", ask.format(host)]
        done = rootless(["-m", "tidegate", "live", "shell", str(file), "--", *program])
        assert done.returncode == 0, done.stderr
        assert ("hint: " in done.stderr) == bool(count), done.stderr
    assert "(1 of them); --nat, as root, connects" in done.stderr
    refused = rootless(["-m", "tidegate", "live", "shell", "--nat", str(file), "--", "true"])
    assert refused.returncode == 2
    assert "without root there is no way to this machine's network" in refused.stderr


def test_the_live_tests_pass(rootless: Rootless, tmp_path: Path) -> None:
    tests = [str(ROOT / "tests" / "live" / name) for name in ("test_live.py", "test_study_live.py")]
    quiet = ["-p", "no:cacheprovider", "-rs", "-q", f"--basetemp={tmp_path / 'home' / 'pytest'}"]
    done = rootless(["-c", PYTEST_INSIDE, *quiet, *tests])
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed, done.stdout
    assert int(passed[1]) >= 5, done.stdout
    assert "skipped" not in done.stdout, done.stdout
