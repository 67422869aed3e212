"""The checklist of a release: says of each item whether it is done, and fails while one is not.

What it cannot see is listed as a command for a person. It changes nothing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Lines that "Unreleased" may have, so that people read it.
LONGEST = 25


@dataclass(frozen=True)
class Item:
    """One line of the list."""

    what: str
    #: None: only a person can tell.
    done: bool | None
    #: What is missing, or what to do.
    how: str


def version() -> str:
    """Return the version that Cargo.toml names."""
    return str(tomllib.loads(_text("Cargo.toml"))["workspace"]["package"]["version"])


def items() -> list[Item]:
    """Look at each item."""
    return [*_repository(), *_changelog(), *_supplies(), *_built()]


def _repository() -> list[Item]:
    changed = _said("git", "status", "--porcelain").splitlines()
    tag = f"v{version()}"
    return [
        Item("nothing is left uncommitted", not changed, f"{len(changed)} files: git status"),
        Item(
            f"the tag {tag} is free",
            not _said("git", "tag", "--list", tag),
            "raise the version in Cargo.toml",
        ),
        Item("all that make check looks at is right", None, "make check"),
    ]


def _changelog() -> list[Item]:
    text = _text("CHANGELOG.md")
    open_part = re.search(r"^## Unreleased\n(.*?)(?=^## )", text, re.M | re.S)
    lines = len(open_part[1].strip().splitlines()) if open_part else 0
    newest = re.search(r"^## (\d\S*) \(\S+\)$", text, re.M)
    named = newest is not None and newest[1] == version()
    cited = f"\nversion: {version()}\n" in _text("CITATION.cff")
    return [
        Item(f"the changelog begins with {version()}", named and not lines, "name the version and the day"),
        Item(f"Unreleased has at most {LONGEST} lines", lines <= LONGEST, f"{lines} lines"),
        Item("CITATION.cff has the version", cited, "version and date-released"),
    ]


def _supplies() -> list[Item]:
    builder = re.search(r"^ARG BUILDER=(\S+)", _text("Dockerfile"), re.M)
    assert builder is not None
    found = [
        Item(
            "the image is built from digests",
            None,
            f"docker buildx imagetools inspect {builder[1]}, then --build-arg BUILDER=…@sha256:… and RUNTIME",
        )
    ]
    for tool, command in (
        ("cargo-deny", "cargo deny --locked check"),
        ("pip-audit", "pip-audit --strict --no-deps --disable-pip --requirement requirements.lock"),
    ):
        if shutil.which(tool) is None:
            found.append(
                Item(f"{tool} finds nothing", None, f"{tool} is not installed here; elsewhere: {command}")
            )
        else:
            done = subprocess.run(command.split(), cwd=ROOT, capture_output=True, text=True, check=False)
            found.append(Item(f"{tool} finds nothing", done.returncode == 0, command))
    return found


def _built() -> list[Item]:
    wheels = sorted((ROOT / "target" / "wheels").glob(f"tidegate-{version()}-*.whl"))
    page = ROOT / "target" / "site" / version() / "index.html"
    return [
        Item("a wheel of this version is there", bool(wheels), "make wheel"),
        Item("it works in a new environment", None, "make try-wheel"),
        Item("a site of this version is there", page.is_file(), "make docs"),
        Item("each crate packs", None, "cargo publish --workspace --dry-run --locked"),
    ]


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Print the list; return 1 while an item is not done."""
    found = items()
    for item in found:
        mark = {True: "done", False: "NOT YET", None: "by hand"}[item.done]
        print(f"{mark:8} {item.what}" + ("" if item.done else f" ({item.how})"))
    return int(any(item.done is False for item in found))


if __name__ == "__main__":
    sys.exit(main())
