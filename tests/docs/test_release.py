"""What a release consists of names the same version, and what builds it has what it needs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
VERSION = CARGO["workspace"]["package"]["version"]


def test_one_version() -> None:
    """The changelog's newest release, its date, and the citation are those of Cargo.toml."""
    released = re.findall(r"^## (\d\S*) \((\S+)\)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.M)
    citation = (ROOT / "CITATION.cff").read_text()
    assert released[0][0] == VERSION
    assert f"\nversion: {VERSION}\n" in citation
    assert f"\ndate-released: {released[0][1]}\n" in citation
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    ours = {
        each["version"] for each in locked if each["name"].startswith("tidegate-") and "source" not in each
    }
    assert VERSION in ours


def test_each_entry_of_the_changelog_is_read_in_one_go() -> None:
    """What a release changed for its users has at most 25 lines."""
    entries = re.split(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    assert max(sum(bool(line) for line in entry.splitlines()) for entry in entries) <= 25


def test_the_image_gets_what_the_wheel_is_made_of() -> None:
    """Every member of the workspace, and the files that the package names, pass .dockerignore."""
    lets = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())
    needed = {"Cargo.toml", "Cargo.lock", "pyproject.toml", package["project"]["readme"]}
    needed |= set(package["project"]["license-files"])
    needed |= {member.split("/")[0] for member in CARGO["workspace"]["members"]}
    needed.add(package["tool"]["maturin"]["python-source"])
    needed.add("papers")
    # The package's examples are links to these.
    needed.add("examples")
    assert needed <= lets
    assert all((ROOT / name).exists() for name in lets)


def test_the_image_has_the_toolchain_of_the_workspace() -> None:
    """The builder's Rust is the one that Cargo.toml asks for."""
    asked = CARGO["workspace"]["package"]["rust-version"]
    assert f"ARG BUILDER=rust:{asked}-" in (ROOT / "Dockerfile").read_text()


def test_the_image_does_not_run_as_root() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("FROM "))
    assert "USER tidegate" in lines[last:]
