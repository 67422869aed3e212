"""Papers are a distribution of their own: it needs Tidegate, and Tidegate does not need it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import tidegate as tg
import tidegate_papers
from support.python_imports import needed

ROOT = Path(__file__).resolve().parents[2]
PAPERS = Path(tidegate_papers.__file__).parent


def test_tidegate_names_no_papers() -> None:
    for path in Path(tg.__file__).parent.rglob("*.py"):
        assert not any(name.startswith("tidegate_papers") for name in needed(path)), path


def test_papers_use_public_names_only() -> None:
    for path in PAPERS.glob("[!_]*/*.py"):
        private = {name for name in needed(path) if name.startswith(("tidegate._", "tidegate_papers._"))}
        assert private == set(), path


def test_no_circle_of_files() -> None:
    files = {
        ".".join(["tidegate_papers", *path.relative_to(PAPERS).with_suffix("").parts]): path
        for path in PAPERS.rglob("*.py")
    }
    needs = {
        name: needed(path) & {*files} - {name} for name, path in files.items() if path.stem != "__init__"
    }
    list(TopologicalSorter(needs).static_order())


@pytest.mark.parametrize("words", [["reproduce"], ["reproduce", "dtm/fig-4", "--quick", "--help"]])
def test_without_them_the_command_says_what_to_install(words: list[str]) -> None:
    code = (
        "import sys\nfrom tidegate._cli import brought, main\n"
        "brought.entry_points = lambda **_: []\n"
        f"sys.argv[1:] = {words!r}\nmain.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    said = 'error: install what "tidegate reproduce" needs: pip install "tidegate[papers]"\n'
    assert done.stderr == said


def test_both_have_one_version() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    papers = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text())["project"]
    assert papers["version"] == version
    assert f"tidegate=={version}" in papers["dependencies"]


def test_copies_are_the_same() -> None:
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        assert (ROOT / "papers" / name).read_bytes() == (ROOT / name).read_bytes()
    suite = {path.name: path for path in (ROOT / "python" / "tidegate" / "transports").rglob("*.toml")}
    copies = {path.name: path for path in (ROOT / "crates" / "tidegate-judge" / "suite").iterdir()}
    assert suite.keys() == copies.keys()
    assert all(suite[name].read_bytes() == copies[name].read_bytes() for name in suite)
