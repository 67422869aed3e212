"""The laboratory as a folder of files."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.common import EXAMPLES, SMALL
from tidegate._lab import static
from tidegate.errors import ArgumentError, RunFolderError, ScenarioError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Something in the place of the module: what is in it does not matter here."""
    place = tmp_path / "tidegate.wasm.gz"
    place.write_bytes(gzip.compress(b"\0asm", mtime=0))
    monkeypatch.setattr(static, "MODULE", place)
    return place


def test_a_folder_holds_the_page_and_what_its_scenarios_read(tmp_path: Path, module: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "mine.csv").write_bytes((EXAMPLES / "cellular.csv").read_bytes())
    (folder / "small.toml").write_text(SMALL)
    (folder / "trace.toml").write_text(SMALL.replace('rate = "4 Mbit/s"', 'rate.trace = "mine.csv"'))
    (folder / "wrong.toml").write_text("x = 1\n")
    (tmp_path / "secret.csv").write_text("time_s,rate_bps\n0,1000000\n1,2000000\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "leaks.toml").write_text(SMALL.replace('rate = "4 Mbit/s"', 'rate.trace = "link.csv"'))
    out = static.write_static(tmp_path / "out", folder, "small.toml")
    start = json.loads((out / "start.json").read_text())
    assert (start["file"], start["text"]) == ("small.toml", SMALL)
    assert start["files"] == ["small.toml", "trace.toml"], "what is wrong, or reads elsewhere, is not offered"
    assert (out / "traces" / "mine.csv").read_bytes() == (EXAMPLES / "cellular.csv").read_bytes()
    assert [path.name for path in (out / "traces").iterdir()] == ["mine.csv"]
    assert {"cellular.csv", "web-sizes.csv"} == {*start["traces"]["examples"]}
    assert (out / module.name).read_bytes() == module.read_bytes()
    page = (out / "index.html").read_text()
    assert "tidegate-alone" in page
    assert "'wasm-unsafe-eval'" in page
    # Addresses are relative, so that the page works below any path.
    assert 'src="/' not in page
    assert 'href="/' not in page


def test_only_a_laboratory_is_replaced(tmp_path: Path, module: Path) -> None:
    out = static.write_static(tmp_path / "out")
    module.write_bytes(gzip.compress(b"\0asm2", mtime=0))
    static.write_static(out)
    assert (out / module.name).read_bytes() == module.read_bytes()
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    with pytest.raises(RunFolderError, match="not empty"):
        static.write_static(other)
    assert (other / "thesis.txt").read_text() == "mine"


def test_a_wrong_scenario_leaves_nothing_behind(tmp_path: Path, module: Path) -> None:
    assert module.is_file()
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "wrong.toml").write_text("x = 1\n")
    with pytest.raises(ScenarioError):
        static.write_static(tmp_path / "out", folder, "wrong.toml")
    assert {path.name for path in tmp_path.iterdir()} == {"class", module.name}


def test_without_the_module_it_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "MODULE", tmp_path / "none")
    with pytest.raises(ArgumentError, match="make wasm builds it"):
        static.write_static(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_example_that_is_none_is_told() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tidegate", "lab", "--example", "policr", "--no-browser"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert 'did you mean "policer"' in done.stderr
