"""Folders of several runs, written: comparisons of variants and of engines, studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate import _folder
from tidegate._manifest import HEADERS_NOTE
from tidegate._study_metric import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tidegate._agreement import Agreement
    from tidegate._run_value import Run
    from tidegate._study_numbers import StudyNumbers
    from tidegate._variants import Variants


def save(folder: Path, fill: Callable[[Path], None], *, force: bool) -> Path:
    """Write a folder of several runs in one step, as `fill` fills it. Raises as :func:`_folder.staged`."""
    with _folder.staged(folder, force=force) as work:
        fill(work)
    return folder


def fill_comparison(comparison: Variants, work: Path) -> None:
    """Write a comparison's files into an existing, empty folder."""
    from tidegate._plot_compare import comparison_figure
    from tidegate._plot_style import write

    names = []
    for number, variant in enumerate(comparison.variants, start=1):
        names.append({"folder": _fill(variant.run, work, f"{number:02d}"), "set": variant.changes})
    held = {"vary": comparison.axes, "gate": comparison.gate, "variants": names}
    _write(work, "comparison", comparison, comparison.variants[0].run, held)
    write(comparison_figure(comparison), work / "comparison.png")


def fill_engines(comparison: Agreement, work: Path) -> None:
    """Write a comparison's files into an existing, empty folder."""
    from tidegate._plot_engines import engines_figure
    from tidegate._plot_style import write

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
    write(engines_figure(comparison), work / "engines.png")


def fill_study(study: StudyNumbers, work: Path) -> None:
    """Write a study's files into an existing, empty folder."""
    import platform

    from tidegate import _core

    manifest = {
        **study.manifest,
        "points": [
            {"set": point.values, "scenario": point.scenario, "varies": point.varies}
            for point in study.points
        ],
        "tables": [name for name in TABLES if study._rows[name]],
        "versions": {"python": platform.python_version(), **_core.build_info()},
        "machine": {"system": platform.platform(), "architecture": platform.machine()},
    }
    _folder.write_json(work / _folder.MANIFEST, manifest)
    (work / "study.json").write_text(study.to_json() + "\n", encoding="utf-8")
    for name in manifest["tables"]:
        study.frame(name).write_parquet(work / f"{name}.parquet")
    study.table.write_parquet(work / "table.parquet")


def _fill(run: Run, work: Path, name: str) -> str:
    (work / name).mkdir()
    _folder.fill_run(run, work / name)
    return name


def _write(work: Path, kind: str, comparison: Variants | Agreement, first: Run, held: dict[str, Any]) -> None:
    """Write the manifest and the numbers, named after the kind."""
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
