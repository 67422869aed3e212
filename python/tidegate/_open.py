"""Folders opened as the values that they hold: runs, comparisons of variants and of engines, studies."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from tidegate._base.lazy import Lazy
from tidegate._compare.agreement import EngineRuns
from tidegate._compare.engines_value import EngineComparison
from tidegate._compare.value import Comparison
from tidegate._compare.variants import Variant
from tidegate._programs.shell import PACKETS, ShellRecord
from tidegate._run.folder import MANIFEST, PCAP, QLOG, SUMMARY, other_kind, read_json, read_manifest
from tidegate._run.value import Run
from tidegate._run.varied import is_varied
from tidegate._study.columns import IN_MEMORY, Columns, run_place
from tidegate._study.points import Point
from tidegate._study.value import Study
from tidegate.errors import RunFolderError

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")


#: What a folder may hold that is opened.
Opened = Run | Comparison | EngineComparison | Study | ShellRecord
Value = TypeVar("Value")


@overload
def open(folder: str | os.PathLike[str]) -> Opened: ...  # noqa: A001


@overload
def open(folder: str | os.PathLike[str], kind: type[Value]) -> Value: ...  # noqa: A001


def open(folder: str | os.PathLike[str], kind: type[Any] | None = None) -> Any:  # noqa: A001
    """Open what a folder holds: a run, a comparison of variants or of engines, a study, a live shell.

    Tables are read when they are asked for.

    >>> run = tg.open("lte")
    >>> study = tg.open("sweep", tg.Study)                  # its type is known, and anything else refused

    Args:
        folder: what ``save`` or ``--out`` wrote.
        kind: the class of the value, such as :class:`Study`; left out, whatever is there.

    Raises:
        FileNotFoundError: there is no such folder.
        RunFolderError: it holds nothing that can be opened, or something else than ``kind``, or is damaged.
    """
    found = opened(folder)
    if kind is not None and not isinstance(found, kind):
        raise RunFolderError(f"{folder}: this folder holds a {type(found).__name__}, and no {kind.__name__}")
    return found


def opened(folder: str | os.PathLike[str]) -> Opened:
    """Open what a folder holds; see :func:`open`."""
    path = Path(folder)
    manifest = read_manifest(path)
    kind = manifest["kind"]
    if kind not in _READERS:
        raise RunFolderError(other_kind(path, kind, "run"))
    return _READERS[kind](path, manifest)


def _run_of(path: Path) -> Run:
    """Open the run that a folder holds, and nothing else."""
    return _run(path, read_manifest(path, "run"))


def _run(path: Path, manifest: dict[str, Any]) -> Run:
    summary = read_json(path / SUMMARY)
    # Nothing is random in a theory.
    needed = {"flows", "gates"} | (set() if manifest.get("engine") == "theory" else {"seed"})
    if not isinstance(summary, dict) or not needed <= summary.keys():
        raise RunFolderError(f"{path / SUMMARY}: this is not the summary of a run")

    def load(table: str) -> pl.DataFrame | None:
        return _table(path / f"{table}.parquet") if table in manifest.get("tables", ()) else None

    pcap, qlog = path / PCAP, path / QLOG
    return Run(
        summary,
        manifest,
        load,
        pcap=pcap if pcap.is_file() else None,
        qlog=qlog if qlog.is_dir() else None,
        folder=path,
    )


def _comparison(path: Path, manifest: dict[str, Any]) -> Comparison:
    with _whole(path):
        variants = [
            Variant(dict(entry["set"]), _run_of(path / entry["folder"])) for entry in manifest["variants"]
        ]
        axes, gate, title = list(manifest["vary"]), manifest["gate"], str(manifest["title"])
        # Folders of earlier versions have none.
        columns = list(manifest.get("columns", []))
    if not variants:
        raise RunFolderError(f"{path / MANIFEST}: the comparison has no variants")
    return Comparison(title, axes, variants, gate, columns)


def _engines(path: Path, manifest: dict[str, Any]) -> EngineComparison:
    with _whole(path):
        found = [
            EngineRuns(str(entry["engine"]), [_run_of(path / name) for name in entry["folders"]])
            for entry in manifest["engines"]
        ]
        return EngineComparison(
            str(manifest["title"]),
            found,
            dict(manifest["missing"]),
            manifest["gate"],
            float(manifest["tolerance"]),
        )


def _shell(path: Path, manifest: dict[str, Any]) -> ShellRecord:
    summary = read_json(path / SUMMARY)
    with _whole(path):
        title = str(manifest["title"] or manifest["scenario_file"])
    return ShellRecord(title, summary, manifest, _table(path / f"{PACKETS}.parquet"))


def _study(path: Path, manifest: dict[str, Any]) -> Study:
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


_READERS: dict[str, Callable[[Path, dict[str, Any]], Opened]] = {
    "run": _run,
    "comparison": _comparison,
    "study": _study,
    "engines": _engines,
    "shell": _shell,
}
