"""What was measured with real hardware, and what the paper's tables say.

Loss and goodput of the laboratory: validation set of Flach et al., github.com/USC-NSL/policing-detection,
commit 95dcfbd, Apache-2.0. Loss is the mean over 50 chunks of ten trials (``validation.csv.gz``); goodput is
that of the five chunks of trial 1, computed from its captures. Single flow, gap of 1 s, round trip of 100 ms.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One setting of the device: rate in Mbit/s, bucket or queue, loss in percent, goodput in Mbit/s."""

    device: str
    rate: float
    size: str
    loss: float
    chunks: tuple[float, ...]

    @property
    def goodput(self) -> float:
        """The rate of all chunks together: each has the same size, so the harmonic mean."""
        return len(self.chunks) / sum(1 / chunk for chunk in self.chunks)

    @property
    def name(self) -> str:
        """The setting in words."""
        return f"{self.device} {self.rate:g} Mbit/s, {self.size}"


LABORATORY = (
    Row("policer", 0.5, "8 kB", 5.2, (0.454, 0.456, 0.456, 0.455, 0.456)),
    Row("policer", 0.5, "100 kB", 9.2, (0.498, 0.492, 0.492, 0.491, 0.493)),
    Row("policer", 1.5, "8 kB", 4.0, (0.73, 0.60, 0.98, 0.48, 0.55)),
    Row("policer", 1.5, "1 MB", 12.3, (2.44, 1.64, 1.56, 1.51, 1.67)),
    Row("policer", 3, "100 kB", 5.1, (2.45, 2.85, 2.86, 2.84, 2.87)),
    Row("policer", 10, "8 kB", 3.0, (0.46, 0.68, 1.15, 0.46, 0.89)),
    Row("policer", 10, "100 kB", 1.8, (7.12, 6.50, 6.75, 7.06, 6.63)),
    Row("policer", 10, "2 MB", 1.2, (19.3, 31.0, 30.8, 12.3)),
    Row("shaper", 3, "8 kB", 0.8, (2.70, 2.57, 2.57, 2.58, 2.57)),
    Row("shaper", 10, "8 kB", 0.7, (3.14, 2.86, 2.96, 2.76, 2.97)),
    Row("shaper", 10, "100 kB", 3.8, (7.85, 8.01, 8.14, 8.18, 7.95)),
)

#: Table 5: bucket in kB, seconds of rebuffering at 0.5 Mbit/s.
REBUFFERING = {8: 3.5, 16: 2.0, 32: 1.5, 64: 1.6, 128: 1.6, 256: 1.6, 512: 2.4, 1024: 3.1, 2048: 3.1}

#: Table 6: bucket in kB, seconds until the video starts: policed, shaped.
JOIN = {8: (14.0, 12.0), 100: (11.1, 13.3), 2000: (0.3, 12.6)}

#: §5.2, behind 1.5 Mbit/s with 8 kB: goodput in Mbit/s, loss in percent (None: not given).
REMEDIES = {"plain": (0.452, 5.2), "paced": (1.23, 1.3), "limited": (1.38, None)}
