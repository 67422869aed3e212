"""Link traces: described, drawn, converted, made from a model, and told from a capture.

>>> import tidegate as tg
>>> tg.traces.synth("link.down", seed=3, mean="10 Mbit/s", duration="30 s")
>>> tg.traces.info("link.down")["mean_bps"]
>>> tg.traces.convert("link.down", "link.csv", window="50 ms")
"""

from __future__ import annotations

from tidegate.traces._captured import CapturedTrace, from_capture
from tidegate.traces._files import convert, info, plot, synth

__all__ = ["CapturedTrace", "convert", "from_capture", "info", "plot", "synth"]
