"""A result of a run as a store keeps it: JSON, compressed."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def pack(summary: Mapping[str, Any], measured: Mapping[str, float | None], **more: Any) -> bytes:
    """Return a result as it is kept: the summary, what was measured, and what a live run adds."""
    kept = {"summary": summary, "measured": measured, **more}
    return zlib.compress(json.dumps(kept, ensure_ascii=False, allow_nan=False).encode(), 1)


def unpack(packed: bytes) -> dict[str, Any]:
    """Return what :func:`pack` packed.

    Raises:
        ValueError: it is damaged.
    """
    try:
        kept: dict[str, Any] = json.loads(zlib.decompress(packed))
        # How the run was worked through, not what came out.
        kept["summary"].pop("events", None)
    except (zlib.error, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"a result is damaged: {error}") from None
    return kept
