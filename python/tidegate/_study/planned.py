"""What the parts of one study have in common, and whether they are of the study that was planned."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tidegate._run.folder import MANIFEST, read_manifest
from tidegate.errors import RunFolderError

#: Where the parts of a plan stand in its folder.
PARTS = "parts"
#: What tells studies apart beside their points, with its name for people.
_WORDS = {"seed": "seed", "runs": "runs", "until": "until", "axes": "axes", "built": "build of Tidegate"}


def identity(common: Mapping[str, Any], points: Sequence[tuple[Mapping[str, str], str]]) -> str:
    """Return a digest of everything that parts of one study have in common.

    ``common``: a manifest of a part or of a plan. ``points``: the varied values of each with its digest.
    """
    study = {
        **{key: common[key] for key in _WORDS},
        "points": [[dict(chosen), key] for chosen, key in points],
    }
    return hashlib.sha256(json.dumps(study).encode()).hexdigest()


def difference(manifest: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Say in what a part is of another study than something else is."""
    for key, word in _WORDS.items():
        if manifest[key] != other[key]:
            return f"{word} {manifest[key]}, not {other[key]}"
    return "the scenario or one of its traces differs"


def plan_around(part: Path) -> Path | None:
    """Return the folder of the plan in whose folder of parts this one stands or will stand."""
    parts = part.absolute().parent
    is_plan = parts.name == PARTS and (parts.parent / MANIFEST).is_file()
    return parts.parent if is_plan and read_manifest(parts.parent)["kind"] == "plan" else None


def check_planned(parts: Mapping[Path, Mapping[str, Any]], plan: Path) -> None:
    """Refuse parts that are not of the study that was planned; ``parts``: their manifests by folder.

    Raises:
        RunFolderError: one is not, or the plan is damaged.
    """
    planned = read_manifest(plan, "plan")
    try:
        study = identity(planned, [(point["set"], point["key"]) for point in planned["points"]])
        shards = planned["shards"]
    except (KeyError, TypeError, ValueError):
        raise RunFolderError(f"{plan / MANIFEST}: this plan is damaged; plan the study again") from None
    for folder, manifest in parts.items():
        if manifest["study"] != study:
            what = difference(manifest, planned)
        elif manifest["shards"] != shards:
            what = f"it is one of {manifest['shards']} parts, not of {shards}"
        else:
            continue
        raise RunFolderError(
            f"{folder}: this part is not of the study that was planned in {plan}: {what}; plan the study "
            "again, or do the part as it was planned"
        )
