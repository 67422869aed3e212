"""Parts of a study put together: the study that one machine would have given."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.errors import ArgumentError, RunFolderError, StoreError
from tidegate._base.lazy import Lazy
from tidegate._run.folder import read_json, read_manifest
from tidegate._study.columns import PLACE, Columns
from tidegate._study.finish import assembled
from tidegate._study.gather import Facts
from tidegate._study.part import MERGED_ROWS, POINTS
from tidegate._study.point import Described
from tidegate._study.store import Store, opened
from tidegate._study.value import Study

if TYPE_CHECKING:
    import polars as pl
else:
    pl = Lazy("polars")

#: Where the parts of a plan stand in its folder.
PARTS = "parts"
#: So many missing parts are named.
_NAMED = 20
#: Results that are copied into a store at once.
_AT_ONCE = 1000

#: The manifest of each part, by its folder.
Parts = dict[Path, dict[str, Any]]


def merge_study(
    parts: Sequence[str | os.PathLike[str]],
    *,
    gate: str | None = None,
    store: str | os.PathLike[str] | bool = False,
) -> Study:
    """Put the parts of a study together: the study that one machine would have given, to the byte.

    A part that is there twice counts once.

    Args:
        parts: the folders that :func:`study_part` wrote, in any order, or the folder of a plan, which has
            them below it.
        gate: as :func:`tidegate.study`.
        store: a folder that keeps all results as well, so that a longer study goes on from them; True: as
            :func:`tidegate.study`.

    Raises:
        FileNotFoundError: a folder is not there.
        RunFolderError: a folder is no part, or damaged, or of another study; parts are missing.
        StoreError: the results cannot be kept.
        UnknownNameError: there is no such gate.
    """
    with opened(store) as kept:
        return merged(parts, gate=gate, store=kept)[0]


def merged(
    parts: Sequence[str | os.PathLike[str]],
    *,
    gate: str | None = None,
    command: list[str] | None = None,
    store: Store | None = None,
) -> tuple[Study, list[str]]:
    """Return the study of its parts, and what is to be said of them. Raises as :func:`merge_study`."""
    if not parts:
        raise ArgumentError("parts: give the folders of all parts")
    folders = [folder for part in parts for folder in _parts_in(Path(part))]
    given = {folder: read_manifest(folder, "part") for folder in folders}
    chosen, notes = _once(given)
    first, one = next(iter(chosen.items()))
    facts = Facts()
    for folder, manifest in chosen.items():
        with _damaged(folder):
            facts.join(Facts.from_dict(manifest["facts"]))
    columns = _together(chosen)
    if store is not None:
        _keep(chosen, store)
    with _damaged(first):
        points = [
            (dict(point["set"]), str(point["scenario"]), list(point["draws"]))
            for point in read_json(first / POINTS)
        ]
    described = Described(
        one["title"], one["scenario_file"], one["seed"], list(one["axes"]), points, list(one["warnings"])
    )
    return assembled(described, columns, facts, gate, command), notes


def _parts_in(folder: Path) -> list[Path]:
    """Return the folders of the parts of a plan, or the folder itself.

    Raises:
        RunFolderError: none of the plan's parts is done.
    """
    if not folder.is_dir() or read_manifest(folder)["kind"] != "plan":
        return [folder]
    # A part that is being written has a name that begins with a dot.
    found = sorted(part for part in (folder / PARTS).glob("[!.]*") if part.is_dir())
    if not found:
        raise RunFolderError(f"{folder / PARTS}: no part of this plan is done yet")
    return found


def _once(given: Parts) -> tuple[Parts, list[str]]:
    """Return each part once, and what is to be said of those that are there twice.

    Raises:
        RunFolderError: parts are missing, damaged, or of another study.
    """
    first, one = next(iter(given.items()))
    seen: dict[int, Path] = {}
    notes: list[str] = []
    for folder, manifest in given.items():
        with _damaged(folder):
            _check_same(folder, manifest, first, one)
            _check_results(folder, manifest)
            number = int(manifest["shard"])
            if number not in seen:
                seen[number] = folder
                continue
            if manifest["content"] != given[seen[number]]["content"]:
                raise RunFolderError(
                    f"{folder}: part {number} of {one['shards']} is in {seen[number]} too, with other "
                    "results; one of the two is damaged: delete both and do the part again"
                )
            notes.append(f"part {number} of {one['shards']} is there twice: {seen[number]} and {folder}")
    _check_whole(seen, one)
    return {seen[number]: given[seen[number]] for number in sorted(seen)}, notes


def _check_results(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a part that lacks results.

    Raises:
        RunFolderError, StoreError: it does.
    """
    results = Store(folder, must_exist=True)
    try:
        there = results.count()
    finally:
        results.close()
    lacks = int(manifest["keys"]) - there
    files = [name for name in manifest["tables"] if not (folder / f"{name}.parquet").is_file()]
    if lacks or files:
        what = f"{lacks} of {manifest['keys']} results are" if lacks else f"{files[0]}.parquet is"
        raise RunFolderError(f"{folder}: {what} missing; {_again(manifest)}")


def _again(manifest: Mapping[str, Any]) -> str:
    part = f"{manifest['shard']}/{manifest['shards']}"
    return f"delete this folder and do part {part} again"


class _damaged:  # noqa: N801
    """Says of a part whose files lack something that it is damaged."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        import polars as pl

        if isinstance(error, KeyError | TypeError | ValueError | IndexError | pl.exceptions.PolarsError):
            if isinstance(error, RunFolderError | StoreError):
                return
            raise RunFolderError(
                f"{self._folder}: this part is damaged ({error}); delete the folder and do the part again"
            ) from None


def _together(parts: Parts) -> Columns:
    """Put the tables of the parts together, a stretch of places after the other.

    Raises:
        RunFolderError: a table cannot be read.
    """
    tables: dict[str, list[pl.LazyFrame]] = {}
    rows: dict[str, int] = {}
    for folder, manifest in parts.items():
        with _damaged(folder):
            for name, height in manifest["tables"].items():
                table = pl.scan_parquet(folder / f"{name}.parquet")
                table.collect_schema()
                tables.setdefault(name, []).append(table)
                rows[name] = rows.get(name, 0) + height
    columns = Columns()
    whole = {name: pl.concat(found, how="diagonal_relaxed") for name, found in tables.items()}
    if "runs" not in whole:
        return columns
    runs = max(1, MERGED_ROWS * rows["runs"] // max(rows.values()))
    for begin, end in _stretches(whole["runs"], runs):
        inside = (pl.col(PLACE) >= begin) & (pl.col(PLACE) <= end)
        try:
            found = {name: table.filter(inside).collect() for name, table in whole.items()}
        except pl.exceptions.PolarsError as error:
            raise RunFolderError(f"{_unreadable(parts)}: this table of a part is damaged ({error})") from None
        columns.add({name: frame.sort(PLACE, maintain_order=True) for name, frame in found.items()})
    return columns


def _unreadable(parts: Parts) -> Path:
    """Return the first file of the parts that cannot be read."""
    files = [folder / f"{name}.parquet" for folder, manifest in parts.items() for name in manifest["tables"]]
    for file in files:
        try:
            pl.scan_parquet(file).select(pl.all().count()).collect()
        except pl.exceptions.PolarsError:
            return file
    return files[0]


def _stretches(runs: pl.LazyFrame, most: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last place of so many runs, again and again."""
    places = runs.select(PLACE).collect()[PLACE].sort()
    for begin in range(0, len(places), most):
        part = places[begin : begin + most]
        yield int(part[0]), int(part[-1])


def _keep(parts: Parts, store: Store) -> None:
    """Copy the results of the parts into a store."""
    for folder in parts:
        results = Store(folder, must_exist=True)
        try:
            found = results.all()
            while some := list(islice(found, _AT_ONCE)):
                store.put_all(some)
        finally:
            results.close()


def _check_same(folder: Path, manifest: Mapping[str, Any], first: Path, one: Mapping[str, Any]) -> None:
    """Refuse a part of another study.

    Raises:
        RunFolderError: it is one; the message says what differs.
    """
    if manifest["shards"] != one["shards"]:
        raise RunFolderError(
            f"{folder}: this is part {manifest['shard']} of {manifest['shards']}, but {first} is one of "
            f"{one['shards']}"
        )
    if manifest["study"] == one["study"]:
        return
    words = {"seed": "seed", "runs": "runs", "until": "until", "axes": "axes", "built": "build of Tidegate"}
    for key, word in words.items():
        if manifest[key] != one[key]:
            raise RunFolderError(
                f"{folder}: this is a part of another study than {first}: "
                f"{word} {manifest[key]}, not {one[key]}"
            )
    raise RunFolderError(
        f"{folder}: this is a part of another study than {first}: the scenario or one of its traces differs"
    )


def _check_whole(seen: Mapping[int, Path], one: Mapping[str, Any]) -> None:
    """Refuse a study that lacks parts.

    Raises:
        RunFolderError: it does; the message names them.
    """
    missing = [number for number in range(1, int(one["shards"]) + 1) if number not in seen]
    if not missing:
        return
    named = ", ".join(str(number) for number in missing[:_NAMED])
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    raise RunFolderError(
        f"{len(missing)} of {one['shards']} parts are missing: {named}{more}; do them, each with its own "
        f"--shard, such as --shard {missing[0]}/{one['shards']}"
    )
