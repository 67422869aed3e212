"""What passed the gates while a program ran behind them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate._base import text
from tidegate._base.lazy import Lazy
from tidegate._base.versions import made_with
from tidegate._run.folder import MANIFEST, SUMMARY, write_json
from tidegate._run.kept import Kept

if TYPE_CHECKING:
    import polars as pl

    from tidegate._ask.scenario import Scenario
else:
    pl = Lazy("polars")

#: The directions of packets, as the program sees them.
WAYS = ("incoming", "outgoing")
#: The table of packets: columns and what they mean.
COLUMNS = {
    "time_s": "when the packet came to the first gate, seconds since the gates were opened",
    "way": "incoming: to the program; outgoing: from it",
    "bytes": "bytes of the IP packet",
    "delay_ms": "time from then until it left the last gate, ms; null: dropped, or still there at the end",
    "dropped_by": "the gate that dropped it; null: none",
}
PACKETS = "packets"


@dataclass(frozen=True)
class ShellRecord(Kept):
    """The packets of a shell, and how it went."""

    title: str
    summary: dict[str, Any]
    manifest: dict[str, Any]
    packets: pl.DataFrame

    @staticmethod
    def of(
        scenario: Scenario,
        outcome: dict[str, Any],
        raw: tuple[list[float], list[int], list[int], list[float | None], list[str | None]],
        *,
        uploads: bool,
        command: list[str],
    ) -> ShellRecord:
        """Make it of what the compiled part gives; ``outcome`` is how the program went."""
        at, ways, size, delay, gates = raw
        # The flow's path is 0: what the program receives, or with uploads what it sends.
        names = WAYS[::-1] if uploads else WAYS
        packets = pl.DataFrame(
            {
                "time_s": at,
                "way": [names[way] for way in ways],
                "bytes": size,
                "delay_ms": delay,
                "dropped_by": gates,
            },
            schema={
                "time_s": pl.Float64,
                "way": pl.String,
                "bytes": pl.UInt32,
                "delay_ms": pl.Float64,
                "dropped_by": pl.String,
            },
        )
        summary = {**outcome, **{way: _of_way(packets.filter(pl.col("way") == way)) for way in WAYS}}
        manifest = {
            "kind": "shell",
            "layout": 1,
            "title": scenario.title,
            "scenario_file": scenario.name,
            "scenario": scenario.to_toml(),
            "inputs": scenario.inputs,
            **made_with(),
            "command": command,
            "tables": {PACKETS: COLUMNS},
        }
        return ShellRecord(scenario.title or scenario.name, summary, manifest, packets)

    def fill(self, work: Path) -> None:
        """Write the files of its folder into an existing, empty one."""
        write_json(work / MANIFEST, self.manifest)
        write_json(work / SUMMARY, self.summary)
        self.packets.write_parquet(work / f"{PACKETS}.parquet")

    def plot(self, path: str | Path) -> None:
        """Draw throughput, delays and drops of both ways. The suffix is .png, .svg or .pdf."""
        from tidegate._draw.style import write
        from tidegate._programs.shell_plot import shell_figure

        write(shell_figure(self.title, self.summary, self.packets, self.report()), Path(path))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of ``summary.json``."""
        return self.summary

    def report(self) -> str:
        """Return a line for each way that had packets."""
        lines = []
        for way in WAYS:
            row = self.summary[way]
            if not row["packets"]:
                continue
            delay = ", ".join(
                f"{word} {text.number(row[key])}"
                for word, key in (("p50", "delay_p50_ms"), ("p99", "delay_p99_ms"), ("max", "delay_max_ms"))
            )
            lines.append(
                f"{way}: {text.counted(row['packets'], 'packet')}, {_bytes(row['bytes'])}, "
                f"{row['dropped']} dropped; delay {delay} ms"
            )
        return "\n".join(lines)


def _of_way(packets: pl.DataFrame) -> dict[str, Any]:
    """Return the numbers of one way; null where there is nothing to say."""
    delay = packets["delay_ms"].drop_nulls()

    def quantile(share: float) -> float | None:
        # The smallest value that so large a share of all does not exceed, as in the summaries of runs.
        return delay.quantile(share, interpolation="higher") if len(delay) else None

    return {
        "packets": len(packets),
        "bytes": int(packets["bytes"].sum()),
        "dropped": len(packets) - packets["dropped_by"].null_count(),
        "delay_p50_ms": quantile(0.5),
        "delay_p99_ms": quantile(0.99),
        "delay_max_ms": delay.max() if len(delay) else None,
    }


def _bytes(count: int) -> str:
    for factor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= factor:
            return f"{text.number(count / factor)} {unit}"
    return f"{count} B"
