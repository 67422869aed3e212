"""The folder of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidegate._run.folder import MANIFEST, write_json
from tidegate._run.metric import TABLES

if TYPE_CHECKING:
    from pathlib import Path

    from tidegate._study.numbers import StudyNumbers


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
        "tables": [name for name in TABLES if study.has(name)],
        "versions": {"python": platform.python_version(), **_core.build_info()},
        "machine": {"system": platform.platform(), "architecture": platform.machine()},
    }
    write_json(work / MANIFEST, manifest)
    (work / "study.json").write_text(study.to_json() + "\n", encoding="utf-8")
    for name in manifest["tables"]:
        study.write(name, work / f"{name}.parquet")
    study.table.write_parquet(work / "table.parquet")
