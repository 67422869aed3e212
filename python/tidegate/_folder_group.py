"""Folders of several runs: comparisons of variants and of engines, written and opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate import _folder
from tidegate._agreement import EngineComparison, EngineRuns
from tidegate._compare import Comparison, Variant
from tidegate._errors import RunFolderError
from tidegate._run import HEADERS_NOTE

if TYPE_CHECKING:
    import os

    from tidegate._run import Run


def fill_comparison(comparison: Comparison, work: Path) -> None:
    """Write a comparison's files into an existing, empty folder."""
    names = []
    for number, variant in enumerate(comparison.variants, start=1):
        names.append({"folder": _fill(variant.run, work, f"{number:02d}"), "set": variant.changes})
    held = {"vary": comparison.axes, "gate": comparison.gate, "variants": names}
    _write(work, "comparison", comparison, comparison.variants[0].run, held)


def open_comparison(folder: str | os.PathLike[str]) -> Comparison:
    """Open the comparison that a folder holds.

    Raises:
        FileNotFoundError: there is no such folder.
        RunFolderError: it holds no comparison, or is damaged.
    """
    path = Path(folder)
    manifest = _folder.read_manifest(path, "comparison")
    try:
        variants = [
            Variant(dict(entry["set"]), _folder.open_run(path / entry["folder"]))
            for entry in manifest["variants"]
        ]
        axes, gate, title = list(manifest["vary"]), manifest["gate"], str(manifest["title"])
    except (KeyError, TypeError) as error:
        raise _damaged(path, error) from None
    if not variants:
        raise RunFolderError(f"{path / _folder.MANIFEST}: the comparison has no variants")
    return Comparison(title, axes, variants, gate)


def fill_engines(comparison: EngineComparison, work: Path) -> None:
    """Write a comparison's files into an existing, empty folder."""
    entries = []
    for each in comparison.engines:
        runs = enumerate(each.runs, start=1)
        folders = [_fill(run, work, f"{each.engine}-{number:02d}") for number, run in runs]
        entries.append({"engine": each.engine, "folders": folders})
    held = {
        "gate": comparison.gate,
        "tolerance": comparison.tolerance,
        "engines": entries,
        "missing": comparison.missing,
    }
    _write(work, "engines", comparison, comparison.engines[0].runs[0], held)


def open_engines(folder: str | os.PathLike[str]) -> EngineComparison:
    """Open the comparison of engines that a folder holds.

    Raises:
        FileNotFoundError: there is no such folder.
        RunFolderError: it holds something else, or is damaged.
    """
    path = Path(folder)
    manifest = _folder.read_manifest(path, "engines")
    try:
        found = [
            EngineRuns(str(entry["engine"]), [_folder.open_run(path / name) for name in entry["folders"]])
            for entry in manifest["engines"]
        ]
        return EngineComparison(
            str(manifest["title"]),
            found,
            dict(manifest["missing"]),
            manifest["gate"],
            float(manifest["tolerance"]),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise _damaged(path, error) from None


def _fill(run: Run, work: Path, name: str) -> str:
    (work / name).mkdir()
    _folder.fill_run(run, work / name)
    return name


def _write(
    work: Path, kind: str, comparison: Comparison | EngineComparison, first: Run, held: dict[str, Any]
) -> None:
    """Write the manifest, the numbers and the picture, named after the kind."""
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
    _folder.write_json(work / _folder.MANIFEST, manifest)
    _folder.write_json(work / f"{kind}.json", comparison.to_dict())
    comparison.plot(work / f"{kind}.png")


def _damaged(path: Path, error: Exception) -> RunFolderError:
    return RunFolderError(f"{path / _folder.MANIFEST}: {error} is missing; the file is damaged")
