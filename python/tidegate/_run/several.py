"""Folders of several runs: what comparisons of variants and of engines write in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from tidegate._run.folder import MANIFEST, fill_run, write_json
from tidegate._run.manifest import HEADERS_NOTE

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._run.value import Run


class Several(Protocol):
    """What a comparison of variants and one of engines have in common."""

    @property
    def title(self) -> str: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def warnings(self) -> list[str]: ...
    def to_dict(self) -> dict[str, Any]: ...


def fill_part(run: Run, work: Path, name: str) -> str:
    """Write one run into a folder of its own inside `work`, and return the folder's name."""
    (work / name).mkdir()
    fill_run(run, work / name)
    return name


def write_manifest(work: Path, kind: str, comparison: Several, first: Run, held: dict[str, Any]) -> None:
    """Write the manifest, and the numbers into a file named after the kind."""
    of_first = ("scenario_file", "versions", "machine", "command")
    manifest = {
        "kind": kind,
        "layout": 1,
        "title": comparison.title,
        "seed": comparison.seed,
        **held,
        "warnings": comparison.warnings,
        "headers": HEADERS_NOTE,
        **{key: first.manifest[key] for key in of_first},
    }
    write_json(work / MANIFEST, manifest)
    write_json(work / f"{kind}.json", comparison.to_dict())
