"""The scripts in the package are those that the sources in `web/` give."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from support.common import ROOT

WEB = ROOT / "web"
BUILT = ROOT / "python" / "tidegate" / "_page" / "built"


def test_the_built_files_are_what_the_sources_give() -> None:
    if shutil.which("node") is None:
        pytest.skip("no Node here: whether the built scripts are current is not checked")
    if not (WEB / "node_modules" / "esbuild").is_dir():
        pytest.skip("the packages of web/ are not installed (npm ci --prefix web)")
    done = subprocess.run(
        ["node", "build.mjs", "--check"], cwd=WEB, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_licences_go_with_them() -> None:
    text = (BUILT / "LICENSES.txt").read_text(encoding="utf-8")
    assert "uPlot" in text
    assert "Leon Sorokin" in text
    assert "THE SOFTWARE IS PROVIDED" in text


def test_what_is_built_is_small() -> None:
    assert (BUILT / "report.js").stat().st_size + (BUILT / "report.css").stat().st_size < 100_000
