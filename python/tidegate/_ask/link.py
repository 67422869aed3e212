"""Scenarios for those who have no file: one download over a link that is named in words, or over a trace."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from tidegate.errors import ArgumentError, TraceError

#: Suffixes that name a link trace and nothing else.
TRACES = (".down", ".up", ".mahi", ".mahimahi", ".drp", ".csv")
#: Comment that tells editors where the schema is; ``tidegate schema`` prints it.
SCHEMA_LINE = "#:schema ./scenario.schema.json"
SCHEMA_HELP = (
    "# Editors that know TOML schemas complete and check keys once this file is there:\n"
    "#   tidegate schema > scenario.schema.json\n"
)


def is_trace(path: str) -> bool:
    """Tell by its suffix whether a file is a link trace and no scenario."""
    return Path(path).suffix.lower() in TRACES


@dataclass(frozen=True)
class Link:
    """One download over one link: either a rate or a trace, and what else there is to choose."""

    rate: str | None = None
    trace: str | None = None
    rtt: str | None = None
    queue: str | None = None
    cc: str | None = None
    loss: str | None = None
    duration: str | None = None

    def toml(self) -> str:
        """Return the scenario.

        Raises:
            ArgumentError: it has no rate and no trace, or both.
            TraceError, OSError: the trace is wrong.
        """
        if (self.rate is None) == (self.trace is None):
            raise ArgumentError("a link has a rate (--link RATE) or a trace (FILE), not both")
        cc, rtt = _or(self.cc, "cubic"), _spaced(_or(self.rtt, "40 ms"))
        if self.trace is None:
            queue = _spaced(_or(self.queue, "1 BDP"))
            duration = _spaced(_or(self.duration, "30 s"))
            what, rate = _spaced(self.rate or ""), f"rate = {_text(_spaced(self.rate or ''))}"
        else:
            from tidegate.traces import info as described

            info = described(self.trace)
            carried = round(info["mean_bps"] * _HELD_S / _PACKET_BITS)
            queue = _spaced(_or(self.queue, f"{max(carried, _LEAST)} packets"))
            whole = min(max(info["duration_s"], _SHORTEST_S), _LONGEST_S)
            duration = _spaced(_or(self.duration, f"{whole:.0f} s"))
            what = f"{Path(self.trace).name} ({info['mean_bps'] / 1e6:.3g} Mbit/s)"
            rate = f"rate.trace = {_text(self.trace)}"
        # Not the queue and the congestion control: they are what comparisons vary.
        title = f"A download over {what}, round trip {rtt}"
        lines = [
            f"title = {_text(title)}",
            f"duration = {_text(duration)}",
            "seed = 1                          # the same seed, the same run",
            "",
            "[gate.link]",
            rate,
            f"queue = {_text(queue)}",
            *([f"loss = {_share(self.loss)}"] if self.loss is not None else []),
            "",
            "[flow.download]",
            'path = ["link"]',
            f"rtt = {_text(rtt)}",
            f"tcp.cc = {_text(cc)}",
            "",
        ]
        return "\n".join(lines)


#: A trace's queue holds what its mean rate carries in this time, in packets of 1500 bytes.
_HELD_S, _PACKET_BITS, _LEAST = 0.1, 12_000, 10
#: A trace's run takes as long as the trace, but not less or more than this.
_SHORTEST_S, _LONGEST_S = 10.0, 60.0


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _spaced(value: str) -> str:
    """Return "50Mbit/s" and "1bdp" as "50 Mbit/s" and "1 BDP"."""
    found = re.fullmatch(r"\s*([0-9._]+)\s*([^0-9\s].*?)\s*", value)
    if found is None:
        return value.strip()
    unit = "BDP" if found[2].lower() == "bdp" else found[2]
    return f"{found[1]} {unit}"


def _share(value: str) -> str:
    """Return a share as the scenario takes it: 0.001, or "0.1%"."""
    return value if re.fullmatch(r"[0-9.eE-]+", value) else _text(value)


def looks_like_trace(text: str) -> bool:
    """Tell whether the first lines are numbers, as in a link trace."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")][:3]
    number = r"[0-9]+(\.[0-9]*)?"
    return bool(lines) and all(re.fullmatch(rf"{number}([\s,;]+{number})*", line) for line in lines)


def no_scenario(name: str) -> TraceError:
    """Return the error for a trace whose name does not say what its numbers are."""
    return TraceError(
        f"{name}: this is no scenario; its lines are numbers, as in a link trace. Give the file a name that "
        "says what they are: .down (milliseconds, Mahimahi), .drp (kbit/s) or .csv (with time_s,rate_mbps "
        "in the first line)"
    )


def _or(given: str | None, default: str) -> str:
    """Return what was given, also where it is an empty text, which is refused later."""
    return default if given is None else given
