"""The module and what is made of the page's sources, for all tests of a page without a server."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from common import ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def module() -> Path:
    """Return the module, built from the sources as they are."""
    if shutil.which("node") is None:
        pytest.skip("no Node (node) here")
    build = ROOT / "crates" / "tidegate-wasm" / "build"
    built = subprocess.run([build, "--installed"], capture_output=True, text=True, check=False)
    if built.returncode == 3:
        pytest.skip(built.stdout.strip())
    assert built.returncode == 0, built.stderr
    return ROOT / "target" / "wasm" / "tidegate.wasm"
