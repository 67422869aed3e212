"""What an interactive page draws of a run over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tidegate._page.view import Instants, View, line
from tidegate._run.columns import WORDS
from tidegate._run.history import History, history
from tidegate._run.idle import idle_paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tidegate._run.arrays import Arrays
    from tidegate._run.record import Recorded

    Floats = NDArray[np.float64]

#: Flows that have lines of their own.
SHOWN = 8
#: Idle paths that have lines; more are not told apart.
_PATHS = 3
#: The words of the band that are the sender's.
_POLICED = " A policer keeps no queue: it holds the sender back by the window that its drops made small."
_HELD = WORDS["flows"]["held_by"]
#: Numbers of colours of the sender's words and of gates; gates begin with the colour of the bars' first.
_HELD_COLOURS, _GATE_COLOURS = (2, 1, 4, 3, 7), (0, 5, 6, 7)


def run_view(run: Recorded, gate: str | None = None) -> View | None:
    """Return the panels of a run: windows, rates, delay, queue, bucket, and what held each flow back.

    ``gate``: whose queue and rate are shown; left out, the one that held flows back most. None: the run
    kept no time series.
    """
    if not run.has("gates") or not run.has("flows"):
        return None
    return _Drawn(run, history(run, gate)).view


class _Drawn:
    def __init__(self, run: Recorded, data: History) -> None:
        self.run = run
        self.data = data
        self.names = data.names[:SHOWN]
        self.instants = Instants.of([*data.time.values(), data.gate_time], 5 * len(self.names) + 6)
        self.view = View(data.duration, data.begin)
        self.x = self.view.column(self.instants.at, time=True)
        self.flows = run.arrays("flows").parts("flow")
        self.gates = run.arrays("gates").parts("gate")
        self.bands()
        self.rates()
        self.windows()
        self.delays()
        self.queue()
        self.bucket()
        self.notes()

    def flow(self, name: str, values: Floats) -> int:
        return self.view.column(self.instants.values(self.data.time[name], values))

    def gate(self, values: Floats) -> int:
        return self.view.column(self.instants.values(self.data.gate_time, values))

    def windows(self) -> None:
        lines = [
            line(name, self.flow(name, self.data.cwnd[name]), place) for place, name in enumerate(self.names)
        ]
        if len(self.names) == 1:
            (name,) = self.names
            lines[0]["name"] = "cwnd"
            if not np.all(np.isnan(self.data.ssthresh[name])):
                # An initial threshold far above every window would flatten what there is to see.
                limit = self.flow(name, self.data.ssthresh[name])
                lines.append(line("ssthresh", limit, 7, look="dash", fit=False))
        self.view.panel("cwnd", "Congestion window", "segments", self.x, lines)

    def rates(self) -> None:
        data, lines = self.data, []
        if len(data.gate_time) and not np.all(np.isnan(data.rate)) and not data.contract:
            word = "token rate" if data.bucket else "rate in force"
            rate = self.gate(data.rate / 1e6)
            lines.append(line(f"{word} at {data.gate}", rate, 7, look="fill", of="mean"))
        if limit := data.contract.get("rate_bps"):
            level = self.view.column(np.full(len(self.instants.at), limit / 1e6))
            lines.append(line(f"contract at {data.gate}", level, 7, look="dash", of="mean"))
        counts = data.delivered
        if len(data.names) > SHOWN:
            every = [self.instants.values(data.time[name], counts[name]) for name in data.names]
            total = self.view.column(np.sum(np.nan_to_num(every), axis=0))
            lines.append(line(f"{len(data.names)} flows together", total, 0, of="count"))
        else:
            lines += [
                line(name, self.flow(name, counts[name]), place, of="count")
                for place, name in enumerate(self.names)
            ]
        self.view.panel(
            "rate", "Goodput and rate", "Mbit/s", self.x, lines, top=data.top_bps / 1e6, marks=self.marks()
        )

    def marks(self) -> list[dict[str, Any]]:
        data = self.data
        events = [
            ("packets dropped", data.all_drops, "drop"),
            ("time-outs", data.timeouts, "c3"),
            ("fast retransmits", data.fast, "again"),
        ]
        return [
            {
                "name": name,
                "count": len(times),
                "at": self.view.column(_few(times), time=True),
                "colour": colour,
            }
            for name, times, colour in events
            if len(times)
        ]

    def delays(self) -> None:
        data = self.data
        lines = [
            line(name, self.flow(name, data.rtt[name]), place)
            for place, name in enumerate(self.names)
            if name in data.rtt
        ]
        if len(lines) == 1:
            lines[0]["name"] = "round trip in TCP"
        title = "Delay: round trips in TCP" if len(lines) > 1 else "Delay"
        paths = idle_paths(data.path_rtt, self.names)
        for path, names in paths if len(paths) <= _PATHS else []:
            level = self.view.column(np.full(len(self.instants.at), path))
            of = "" if len(paths) == 1 else f": {', '.join(names[:2])}{', …' if len(names) > 2 else ''}"
            own = self.names.index(names[0]) if len(names) == 1 < len(self.names) else 6
            lines.append(line(f"path, idle{of}", level, own, look="dash"))
        if len(data.wait) and not np.all(np.isnan(data.wait)):
            lines.append(line(f"wait at {data.gate}", self.gate(data.wait), 1 if title == "Delay" else 7))
        self.view.panel("delay", title, "ms", self.x, lines)

    def queue(self) -> None:
        data = self.data
        if not len(data.queue) or np.all(np.isnan(data.queue)):
            return
        lines = [line("queue", self.gate(data.queue))]
        if data.queue_limit is not None:
            level = self.view.column(np.full(len(self.instants.at), data.queue_limit))
            fits = data.queue_limit < 3 * float(np.nanmax(data.queue))
            lines.append(line("limit", level, 7, look="dash", fit=fits))
        self.view.panel("queue", f"Queue at {data.gate}", data.queue_unit, self.x, lines)

    def bucket(self) -> None:
        data = self.data
        if len(data.tokens):
            tokens = line("tokens", self.gate(data.tokens), 2)
            self.view.panel("tokens", f"Bucket at {data.gate}", "bytes", self.x, [tokens])

    def bands(self) -> None:
        """Say for each flow and instant which gate's queue held it or, without one, what held the sender."""
        held = {name: self.flows[name] for name in self.names if "held_by" in self.flows[name].columns}
        if not held:
            return
        paths = self.run.manifest.get("paths") or {}
        waits = {
            name: np.nan_to_num(self.instants.values(part["time_s"], _waits(part)))
            for name, part in self.gates.items()
        }
        words = list(_HELD)
        rows = []
        for name, part in held.items():
            codes = self.instants.values(self.data.time[name], part.codes("held_by", _HELD))
            under_way = self.instants.values(self.data.time[name], _under_way(part))
            passed = [gate for gate in paths.get(name, {}).get("path", ()) if gate in waits]
            longest = np.max([np.zeros(len(codes)), *(waits[gate] for gate in passed)], axis=0)
            for gate in passed:
                word = f"queue of {gate}"
                words += [word] if word not in words else []
                here = (waits[gate] == longest) & (longest > 0) & ~np.isnan(codes) & (under_way > 0)
                codes = np.where(here, words.index(word), codes)
            rows.append({"name": name, "codes": self.view.column(codes)})
        self.view.bands = {
            "title": "What held each flow back" if len(rows) > 1 else "What held the flow back",
            "note": "While data of the flow is under way: the gate on its way with the longest wait, if "
            "packets wait there. Else what kept the sender from sending more."
            + (_POLICED if any("contract_bps" in gate for gate in self.run.summary["gates"]) else ""),
            "x": self.x,
            "words": words,
            "colours": [*_HELD_COLOURS, *(_GATE_COLOURS[n % 4] for n in range(len(words) - len(_HELD)))],
            "rows": rows,
        }

    def notes(self) -> None:
        if self.data.unrecorded is not None:
            self.view.notes.append(
                f"Gate {self.data.unrecorded} was not recorded: its rate and its queue are not drawn."
            )
        if len(self.data.names) > SHOWN:
            self.view.notes.append(f"Lines of the first {SHOWN} of {len(self.data.names)} flows.")
        if self.instants.coarser:
            self.view.notes.append(
                f"The run recorded more: lines are drawn from {len(self.instants.at):,} instants of it."
            )


def _waits(part: Arrays) -> Floats:
    """Return the wait at a gate, ms; 0 where nothing waits there any more."""
    queue = part["queue_packets"]
    if np.all(np.isnan(queue)):
        queue = part["queue_cells"]
    return np.where(queue > 0, part["wait_ms"], 0.0)


def _under_way(part: Arrays) -> Floats:
    """Return 1 where data of a flow is under way, else 0: a gate can hold nothing else back.

    Of a sender that does not say what is in flight: from the first byte received to the last.
    """
    flight = part["in_flight_segments"]
    if not np.all(np.isnan(flight)):
        return np.where(flight > 0, 1.0, 0.0)
    came = part["delivered_bytes"]
    before = np.concatenate(([0.0], came[:-1]))
    return np.where((came > 0) & (before < came[-1:]), 1.0, 0.0)


def _few(times: Floats) -> Floats:
    """Return what can be told apart of many instants."""
    return times if len(times) <= 20_000 else times[np.linspace(0, len(times) - 1, 20_000).astype(int)]
