"""Templates of scenarios, and the examples that come with Tidegate."""

from __future__ import annotations

import shutil
from pathlib import Path

from tidegate._ask.link import SCHEMA_HELP, SCHEMA_LINE
from tidegate._base.files import folder_beside
from tidegate._base.nearest import nearest
from tidegate.errors import RunFolderError, UnknownNameError

_HERE = Path(__file__).parent


def templates() -> dict[str, str]:
    """Return the templates by name, each with its first sentence."""
    return {path.stem: _first_line(path) for path in sorted((_HERE / "templates").glob("*.toml"))}


def examples() -> dict[str, str]:
    """Return the examples by name, each with its first sentence."""
    return {path.stem: _first_line(path) for path in sorted((_HERE / "examples").glob("*.toml"))}


def template(name: str) -> str:
    """Return a commented scenario, with a line that tells editors its schema.

    Raises:
        UnknownNameError: there is none of this name.
    """
    known = templates()
    if name not in known:
        raise UnknownNameError(nearest("template", name, known))
    return with_schema((_HERE / "templates" / f"{name}.toml").read_text(encoding="utf-8"))


def with_schema(text: str) -> str:
    """Return a scenario with the line that tells editors its schema."""
    return f"{SCHEMA_LINE}\n{SCHEMA_HELP}\n{text}"


def copy_examples(folder: Path) -> list[str]:
    """Copy every example and the traces they read into a new folder; return the names.

    Raises:
        RunFolderError: the folder is there and not empty.
        OSError: it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RunFolderError(f"{folder}: this is there already; choose another folder")
    # An installer makes a folder for the compiled Python beside them.
    files = sorted(file for file in (_HERE / "examples").iterdir() if file.is_file())
    place = folder.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    with folder_beside(place) as work:
        for file in files:
            shutil.copyfile(file, work / file.name)
        # An empty folder gives way.
        work.rename(place)
    return [file.name for file in files]


def _first_line(path: Path) -> str:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    return first.removeprefix("#").strip()
