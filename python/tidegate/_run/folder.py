"""Run folders on disk: written whole or not at all, and their parts read back.

A folder holds ``manifest.json``, ``summary.json``, one Parquet file per recorded table and,
where asked, ``packets.pcap``. A comparison holds ``manifest.json``, ``comparison.json`` and
one run folder per variant.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base.files import folder_beside, write_text
from tidegate._base.json_text import pieces
from tidegate._base.written import check_replaced, note_inputs
from tidegate._run.columns import TABLES
from tidegate.errors import RunFolderError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tidegate._run.record import Recorded

MANIFEST = "manifest.json"
SUMMARY = "summary.json"
PCAP = "packets.pcap"
QLOG = "qlog"
_LAYOUT = 1


@contextlib.contextmanager
def staged(folder: Path, *, force: bool = False) -> Iterator[Path]:
    """Give a temporary folder that takes the place of ``folder`` when the block ends well.

    Raises:
        RunFolderError: the folder is there already, and ``force`` does not apply.
        ArgumentError: an input is in that folder.
        OSError: the place cannot be written.
    """
    check_free(folder, force=force)
    with contextlib.ExitStack() as stack:
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            work = stack.enter_context(folder_beside(folder))
        except OSError as error:
            # Of the folder that was asked for, not of the one that is to become it.
            raise OSError(
                error.errno, f"cannot be made ({(error.strerror or '').lower()})", str(folder)
            ) from None
        yield work
        check_free(folder, force=force)
        if folder.exists():
            old = stack.enter_context(folder_beside(folder))
            folder.rename(old / "old")
        work.rename(folder)


def check_free(folder: Path, *, force: bool = False) -> None:
    """Refuse to write over what is there.

    Raises:
        RunFolderError: something is there, and it is not a run folder or force is off.
        ArgumentError: an input is in it.
    """
    if not folder.name:
        raise RunFolderError(f"{folder}: give the new folder a name")
    if not _is_text(folder):
        raise RunFolderError(f"{folder}: this name is not UTF-8, and tables cannot be written there")
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise RunFolderError(f"{folder}: there is a file of this name; choose another folder")
    if not any(folder.iterdir()):
        return
    if not (folder / MANIFEST).is_file():
        raise RunFolderError(
            f"{folder}: this folder is not empty and holds no results of tidegate; choose another folder"
        )
    if not force:
        raise RunFolderError(
            f"{folder}: this folder already holds results; choose another, or replace them with --force"
            " (force=True)"
        )
    check_replaced(folder)


def _is_text(folder: Path) -> bool:
    try:
        str(folder.absolute()).encode()
    except UnicodeEncodeError:
        return False
    return True


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write one JSON file, readable and with a last newline."""
    write_text(path, itertools.chain(pieces(value), ["\n"]))


def receiver_pcap(path: Path) -> Path:
    """Return where a run keeps what the receivers see."""
    return path.with_name(f"{path.stem}-receiver{path.suffix}")


def fill_run(run: Recorded, work: Path) -> None:
    """Write a run's files into an existing, empty folder."""
    tables = [name for name in TABLES if run.has(name)]
    manifest = {
        **run.manifest,
        "tables": {name: TABLES[name] for name in tables},
        "pcap": PCAP if run.pcap is not None else None,
        "qlog": QLOG if run.qlog is not None else None,
    }
    write_json(work / MANIFEST, manifest)
    write_text(work / SUMMARY, itertools.chain(run.json_pieces(), ["\n"]))
    for name in tables:
        run.table(name).write_parquet(work / f"{name}.parquet")
    if run.pcap is not None:
        shutil.copyfile(run.pcap, work / PCAP)
        other = receiver_pcap(run.pcap)
        if other.exists():
            shutil.copyfile(other, receiver_pcap(work / PCAP))
    if run.qlog is not None:
        shutil.copytree(run.qlog, work / QLOG)


def save_run(run: Recorded, folder: Path, *, force: bool) -> Path:
    """Write a run folder in one step. Raises as :func:`staged`."""
    with staged(folder, force=force) as work:
        fill_run(run, work)
    run.folder = folder
    return folder


#: What a folder may hold, in words.
KINDS = {
    "run": "run",
    "comparison": "comparison",
    "study": "study",
    "part": "part of a study",
    "plan": "plan of a study",
    "engines": "comparison of engines",
    "reproduction": "reproduction",
    "shell": "live shell",
}


def read_manifest(folder: Path, kind: str | None = None) -> dict[str, Any]:
    """Read the manifest of a folder that a run, a comparison or a study wrote.

    Raises:
        FileNotFoundError: there is no such folder.
        RunFolderError: it is not one of ours, damaged, or of another kind than asked for.
    """
    if not folder.exists():
        raise FileNotFoundError(2, "no such folder", str(folder))
    if not folder.is_dir():
        raise RunFolderError(f"{folder}: this is a file; give the folder that --out wrote")
    if not (folder / MANIFEST).is_file():
        raise RunFolderError(f"{folder}: this is not a run folder: it has no {MANIFEST}")
    manifest = read_json(folder / MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("kind") not in KINDS:
        raise RunFolderError(f"{folder / MANIFEST}: this was not written by tidegate")
    if manifest.get("layout") != _LAYOUT:
        raise RunFolderError(
            f"{folder / MANIFEST}: this version cannot read layout {manifest.get('layout')!r}"
        )
    if kind is not None and manifest["kind"] != kind:
        raise RunFolderError(other_kind(folder, manifest["kind"], kind))
    traces = manifest.get("inputs") or []
    names = [manifest.get("scenario_file"), *(each.get("path") for each in traces if isinstance(each, dict))]
    note_inputs(name for name in names if isinstance(name, str))
    return manifest


def other_kind(folder: Path, found: str, wanted: str) -> str:
    """Say of a folder that it holds something else than what was asked for."""
    if found == "part":
        return f"{folder}: this folder holds a part of a study; tidegate study merge puts the parts together"
    if found == "plan":
        return (
            f"{folder}: this folder holds the plan of a study; tidegate study merge puts its parts together"
        )
    return f"{folder}: this folder holds a {KINDS[found]}, and no {KINDS[wanted]}"


def read_json(path: Path) -> Any:
    """Read a JSON file of a run folder.

    Raises:
        RunFolderError: it is not there or not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunFolderError(f"{path}: the file is missing from the run folder") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        line = getattr(error, "lineno", 1)
        raise RunFolderError(f"{path}:{line}: this is not valid JSON; the file is damaged") from None
