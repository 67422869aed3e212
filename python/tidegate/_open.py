"""Folders opened as the values that they hold: runs, comparisons of variants and of engines, studies."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tidegate._base.errors import RunFolderError
from tidegate._base.lazy import Lazy
from tidegate._compare.value import Comparison
from tidegate._compare.variants import Variant
from tidegate._engines.agreement import EngineRuns
from tidegate._engines.value import EngineComparison
from tidegate._run.folder import MANIFEST, PCAP, QLOG, SUMMARY, read_json, read_manifest
from tidegate._run.value import Run
from tidegate._run.varied import is_varied
from tidegate._shell.value import PACKETS, ShellRecord
from tidegate._study.columns import IN_MEMORY, Columns, run_place
from tidegate._study.point import Point
from tidegate._study.value import Study

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")


def open_run(folder: str | os.PathLike[str]) -> Run:
    """Open the run that a folder holds; its columns are read when they are asked for.

    Raises:
        FileNotFoundError: there is no such folder.
        RunFolderError: it holds no run, or is damaged.
    """
    path = Path(folder)
    manifest = read_manifest(path, "run")
    summary = read_json(path / SUMMARY)
    # Nothing is random in a theory.
    needed = {"flows", "gates"} | (set() if manifest.get("engine") == "theory" else {"seed"})
    if not isinstance(summary, dict) or not needed <= summary.keys():
        raise RunFolderError(f"{path / SUMMARY}: this is not the summary of a run")

    def load(table: str) -> pl.DataFrame | None:
        file = path / f"{table}.parquet"
        return _table(file) if file.is_file() else None

    pcap, qlog = path / PCAP, path / QLOG
    return Run(
        summary,
        manifest,
        load,
        pcap=pcap if pcap.is_file() else None,
        qlog=qlog if qlog.is_dir() else None,
        folder=path,
    )


def open_comparison(folder: str | os.PathLike[str]) -> Comparison:
    """Open the comparison that a folder holds.

    Raises:
        FileNotFoundError: there is no such folder.
        RunFolderError: it holds no comparison, or is damaged.
    """
    path = Path(folder)
    manifest = read_manifest(path, "comparison")
    with _whole(path):
        variants = [
            Variant(dict(entry["set"]), open_run(path / entry["folder"])) for entry in manifest["variants"]
        ]
        axes, gate, title = list(manifest["vary"]), manifest["gate"], str(manifest["title"])
        # Folders of earlier versions have none.
        columns = list(manifest.get("columns", []))
    if not variants:
        raise RunFolderError(f"{path / MANIFEST}: the comparison has no variants")
    return Comparison(title, axes, variants, gate, columns)


def open_engines(folder: str | os.PathLike[str]) -> EngineComparison:
    """Open the comparison of engines that a folder holds.

    Raises:
        FileNotFoundError: there is no such folder.
        RunFolderError: it holds something else, or is damaged.
    """
    path = Path(folder)
    manifest = read_manifest(path, "engines")
    with _whole(path):
        found = [
            EngineRuns(str(entry["engine"]), [open_run(path / name) for name in entry["folders"]])
            for entry in manifest["engines"]
        ]
        return EngineComparison(
            str(manifest["title"]),
            found,
            dict(manifest["missing"]),
            manifest["gate"],
            float(manifest["tolerance"]),
        )


def open_shell(folder: str | os.PathLike[str]) -> ShellRecord:
    """Open what a live shell left in a folder.

    Raises:
        FileNotFoundError: there is no such folder.
        RunFolderError: it holds something else, or is damaged.
    """
    path = Path(folder)
    manifest = read_manifest(path, "shell")
    summary = read_json(path / SUMMARY)
    with _whole(path):
        title = str(manifest["title"] or manifest["scenario_file"])
    return ShellRecord(title, summary, manifest, _table(path / f"{PACKETS}.parquet"))


def open_study(folder: str | os.PathLike[str]) -> Study:
    """Open the study that a folder holds.

    Raises:
        FileNotFoundError: there is no such folder.
        RunFolderError: it holds no study, or is damaged.
    """
    path = Path(folder)
    manifest = read_manifest(path, "study")
    with _whole(path):
        points = [
            Point(number, dict(entry["set"]), str(entry["scenario"]), bool(entry.get("varies", True)))
            for number, entry in enumerate(manifest["points"])
        ]
        axes = list(manifest["axes"])
        files = {name: path / f"{name}.parquet" for name in manifest["tables"]}
        size = sum(file.stat().st_size for file in files.values() if file.is_file())
        tables = {name: _placed(file, axes, whole=size < IN_MEMORY) for name, file in files.items()}
        return Study(manifest, points, Columns.of(tables))


def _placed(file: Path, axes: list[str], *, whole: bool) -> pl.LazyFrame:
    """Return a table of a study's folder as it was before its varied keys became columns.

    ``whole``: it is read now, else when its numbers are asked for.
    """
    import polars as pl

    try:
        table = pl.read_parquet(file).lazy() if whole else pl.scan_parquet(file)
        added = [key for key in table.collect_schema().names() if is_varied(key, axes)]
        return table.select(run_place(), pl.exclude("point", "replication", *added))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RunFolderError(f"{file}: it cannot be read as a Parquet table ({error})") from None


@contextlib.contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Say of a manifest that lacks something that it is damaged."""
    try:
        yield
    except (KeyError, TypeError, IndexError) as error:
        raise RunFolderError(f"{path / MANIFEST}: {error} is missing; the file is damaged") from None


def _table(file: Path) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RunFolderError(f"{file}: it cannot be read as a Parquet table ({error})") from None
