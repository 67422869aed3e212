"""The scenarios that the page can open: those in the folder, and the examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tidegate.errors import UnknownNameError

#: Bytes of the largest scenario that is shown.
_LARGEST = 1_000_000
_EXAMPLES = Path(__file__).parents[1] / "_ask" / "examples"


def examples_folder() -> Path:
    """Return the folder of the examples and their traces, links followed."""
    return (_EXAMPLES / "lte.toml").resolve().parent


def gallery() -> list[dict[str, str]]:
    """Return every example and template: name, group, title, what it shows, and its text."""
    found = []
    for group in ("templates", "examples"):
        for path in sorted((_EXAMPLES.parent / group).glob("*.toml")):
            text = path.read_text(encoding="utf-8")
            if '"python:' not in text:
                found.append({"name": path.stem, "group": group, "about": _about(text), "text": text})
    return found


def _about(text: str) -> str:
    """Return the first paragraph of a scenario's comment, in one line."""
    lines = []
    for line in text.splitlines():
        words = line.removeprefix("#").strip()
        if not line.startswith("#") or not words:
            break
        lines.append(words)
    return " ".join(lines)


def scenarios(folder: Path) -> list[str]:
    """Return the names of the scenarios in a folder."""
    return sorted(path.name for path in folder.glob("*.toml") if _inside(folder, path.name) is not None)


def text_of(folder: Path, name: str) -> str:
    """Return a scenario of the folder.

    Raises:
        UnknownNameError: the folder has no scenario of this name; a link that leads out of it is none.
    """
    path = _inside(folder, name)
    if path is None:
        raise UnknownNameError(f'there is no scenario "{name[:80]}" in the laboratory\'s folder')
    return path.read_text(encoding="utf-8", errors="replace")


def _inside(folder: Path, name: str) -> Path | None:
    # No file system has longer names.
    long = len(name.encode(errors="replace")) > 255
    if long or "/" in name or "\\" in name or "\0" in name or not name.endswith(".toml"):
        return None
    path = (folder / name).resolve()
    good = path.is_relative_to(folder.resolve()) and path.is_file() and path.stat().st_size <= _LARGEST
    return path if good else None


def problem_of(problem: Any) -> dict[str, Any]:
    """Return a problem of a scenario for the page: where, what, and how to mend it."""
    names = ("line", "column", "key", "read", "problem", "help")
    parts = {name: getattr(problem, name, None) for name in names}
    return {**parts, "problem": parts["problem"] or str(problem)}
