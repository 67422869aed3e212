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


def for_replication(packed: bytes, replication: int, other: int) -> bytes:
    """Return the result of another replication where nothing is random: they differ in its number alone.

    Raises:
        ValueError: the result does not say its number once.
    """
    told, wanted = (f'"replication":{number},'.encode() for number in (replication, other))
    text = zlib.decompress(packed)
    if text.count(told) != 1:
        raise ValueError(f"the result of replication {replication} does not say so once")
    return zlib.compress(text.replace(told, wanted), 1)
