"""Labelled captures of a laboratory with real policers and shapers, and what is said of them."""

from __future__ import annotations

import hashlib
import json
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(os.environ.get("TIDEGATE_CAPTURES", ROOT.parent / "shared" / "captures")) / "policing"

#: A device's default bucket, found from the captures whose name leaves it out: 250 ms of its rate.
DEFAULT_BUCKET_S = 0.25
#: Fewer data packets than this are the end of another experiment, not one of the labelled transfers.
TRANSFER = 5000


@dataclass(frozen=True)
class Verdict:
    """What was said of one connection, beside its label."""

    file: str
    held_out: bool
    policer: bool
    rate_bps: int
    bucket_bytes: float
    lost: int
    said_policed: bool
    said_rate_bps: float | None
    said_bucket_bytes: float | None
    sentence: str


def held_out(file: str) -> bool:
    """Tell whether a capture is in the half that is reported apart: a fixed half, by its name."""
    return hashlib.sha256(file.encode()).digest()[0] % 2 == 1


def labels() -> list[dict[str, Any]]:
    """Return the labels."""
    found: list[dict[str, Any]] = json.loads((FOLDER / "labels.json").read_text(encoding="utf-8"))
    return found


def judge(label: dict[str, Any]) -> list[Verdict]:
    """Identify one capture, and put what was said of each transfer beside its label."""
    import tidegate as tg

    found = tg.identify(FOLDER / label["file"])
    return [
        Verdict(
            file=label["file"],
            held_out=held_out(label["file"]),
            policer=label["kind"] == "policer",
            rate_bps=label["rate_bps"],
            bucket_bytes=label["burst_or_queue_bytes"] or DEFAULT_BUCKET_S * label["rate_bps"] / 8,
            lost=each.lost,
            said_policed=each.policed,
            said_rate_bps=law.rate_bps.value if law.rate_bps else None,
            said_bucket_bytes=law.burst_bytes.value if law.burst_bytes else None,
            sentence=law.sentence,
        )
        for each in found.directions
        for law in (found.limits[each.limit - 1].law,)
        if each.data_packets >= TRANSFER
    ]


def verdicts() -> list[Verdict]:
    """Return the verdicts on every labelled capture, on all processors."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        return [verdict for several in pool.map(judge, labels(), chunksize=3) for verdict in several]
