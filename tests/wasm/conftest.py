"""The module and what is made of the page's sources, for all tests of a page without a server."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from support.common import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def module() -> Path:
    """Return the module, built from the sources as they are."""
    if shutil.which("node") is None:
        pytest.skip("no Node (node) here")
    build = ROOT / "crates" / "tidegate-wasm" / "build"
    # One worker of the tests builds at a time.
    with (ROOT / "target" / "wasm.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = subprocess.run([build, "--installed"], capture_output=True, text=True, check=False)
    if built.returncode == 3:
        pytest.skip(built.stdout.strip())
    assert built.returncode == 0, built.stderr
    return ROOT / "target" / "wasm" / "tidegate.wasm"
