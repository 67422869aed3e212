"""The checklist of a release: says of each item whether it is done, and fails while one is not.

What it cannot see is listed as a command for a person. It changes nothing; with ``--version 0.3.0`` it writes
that version, and the day, into every file that names them.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Lines that the newest part of the changelog may have, so that people read it.
LONGEST = 25
#: Files that name the version, and where: what stands before it, and behind it.
NAMED = (
    ("Cargo.toml", r'(?m)(^version = "|^tidegate\S* = .*version = ")[^"]+(")'),
    ("papers/pyproject.toml", r'(?m)(^version = "|"tidegate==)[^"]+(")'),
    ("CITATION.cff", r"(?m)(^version: ).+()"),
)


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
            "docs/release.py --version",
        ),
        Item("all that make check looks at is right", None, "make check"),
    ]


def _changelog() -> list[Item]:
    text = _text("CHANGELOG.md")
    parts = dict(re.findall(r"^## (\S+).*\n((?:(?!## ).*\n)*)", text, re.M))
    unreleased = parts.get("Unreleased", "").strip()
    lines = [line for line in (unreleased or parts[version()]).splitlines() if line]
    newest = re.search(r"^## (\d\S*) \(\S+\)$", text, re.M)
    named = newest is not None and newest[1] == version()
    cited = f"\nversion: {version()}\n" in _text("CITATION.cff")
    return [
        Item(
            f"the changelog begins with {version()}", named and not unreleased, "name the version and the day"
        ),
        Item(f"its newest part has at most {LONGEST} lines", len(lines) <= LONGEST, f"{len(lines)} lines"),
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
    built = ROOT / "target" / "wheels"
    page = ROOT / "target" / "site" / version() / "index.html"
    patterns = {
        "a wheel for x86_64": f"tidegate-{version()}-*x86_64.whl",
        "a wheel for aarch64": f"tidegate-{version()}-*aarch64.whl",
        "a wheel of the papers": f"tidegate_papers-{version()}-*.whl",
        "a source distribution": f"tidegate-{version()}.tar.gz",
        "a source distribution of the papers": f"tidegate_papers-{version()}.tar.gz",
    }
    return [
        *(Item(f"{what} is there", any(built.glob(name)), "make wheel") for what, name in patterns.items()),
        Item("they work in new environments", None, "make try-wheel, with PYTHON= of each, and SOURCE=1"),
        Item("a site of this version is there", page.is_file(), "make docs"),
        Item("each crate packs", None, "cargo publish --workspace --dry-run --locked"),
    ]


def raise_version(new: str) -> None:
    """Write a version, and today's date, into every file that names them."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    for name, pattern in NAMED:
        _write(name, re.sub(pattern, rf"\g<1>{new}\g<2>", _text(name)))
    _write(
        "CITATION.cff", re.sub(r"(?m)^date-released: .*", f"date-released: {today}", _text("CITATION.cff"))
    )
    _write("CHANGELOG.md", _text("CHANGELOG.md").replace("## Unreleased\n", f"## {new} ({today})\n", 1))
    # The lock names the members of the workspace.
    subprocess.run(["cargo", "update", "--workspace", "--offline"], cwd=ROOT, check=True)


def _write(name: str, text: str) -> None:
    (ROOT / name).write_text(text, encoding="utf-8")


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _said(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Print the list; return 1 while an item is not done."""
    if sys.argv[1:2] == ["--version"]:
        raise_version(sys.argv[2])
        return 0
    found = items()
    for item in found:
        mark = {True: "done", False: "NOT YET", None: "by hand"}[item.done]
        print(f"{mark:8} {item.what}" + ("" if item.done else f" ({item.how})"))
    return int(any(item.done is False for item in found))


if __name__ == "__main__":
    sys.exit(main())
