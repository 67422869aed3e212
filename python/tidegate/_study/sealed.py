"""The digests of a part's files: what was damaged or mixed up since the part was written is found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidegate._run.folder import MANIFEST
from tidegate.errors import RunFolderError

#: What the manifest calls the digests of the other files, and its own.
_FILES, _OWN = "files", "digest"


def sealed(manifest: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the manifest of a part with a digest of each file in its folder, and one of the manifest."""
    files = {file.name: _digest(file) for file in sorted(folder.iterdir())}
    whole = {**manifest, _FILES: files}
    return {**whole, _OWN: _own(whole)}


def check_sealed(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a part whose files are not what was written.

    Raises:
        RunFolderError: a file is damaged or missing; the message names it.
    """
    if _OWN not in manifest:
        raise RunFolderError(
            f"{folder}: an earlier version of tidegate made this part, without digests of its files; "
            f"{again(folder, manifest)}"
        )
    if manifest[_OWN] != _own(manifest):
        raise RunFolderError(
            f"{folder / MANIFEST}: this file is damaged: it is not what was written; "
            f"{again(folder, manifest)}"
        )
    for name, digest in manifest[_FILES].items():
        file = folder / name
        if not file.is_file():
            raise RunFolderError(f"{file}: this file is missing; {again(folder, manifest)}")
        if _digest(file) != digest:
            raise RunFolderError(
                f"{file}: this file is damaged: it is not what part {_number(manifest)} wrote; "
                f"{again(folder, manifest)}"
            )


def again(folder: Path, manifest: Mapping[str, Any]) -> str:
    """Say how a part is mended."""
    return f"delete the folder {folder} and do part {_number(manifest)} again"


def _number(manifest: Mapping[str, Any]) -> str:
    return f"{manifest.get('shard', '?')}/{manifest.get('shards', '?')}"


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _own(manifest: Mapping[str, Any]) -> str:
    """Return a digest of a manifest, without the one that stands in it."""
    rest = {key: value for key, value in manifest.items() if key != _OWN}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
