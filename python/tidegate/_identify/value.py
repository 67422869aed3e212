"""What `identify` gives back."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidegate._base.answer import Answer
from tidegate._base.calls import checked_methods
from tidegate._identify.found import Direction, Limit
from tidegate._identify.prediction import Predicted


@checked_methods
@dataclass(frozen=True)
class Identification(Answer):
    """What a capture tells of the link.

    Attributes:
        files: the captures.
        directions: every direction that carries data.
        limits: what they met.
        notes: what could not be used, and why.
        predicted: what a run of `scenario` gives, beside what the capture measured; nothing where no law is
            told.
        assumed: the congestion control that `scenario` has where the capture does not tell the sender's.
        assumed_queue: what the predicted scenario assumes of the queue, as a sentence; None: nothing.
        start_s: when the first packet was captured, in seconds since 1970; None where there is none.
    """

    files: tuple[str, ...]
    directions: list[Direction]
    limits: list[Limit]
    notes: list[str]
    predicted: list[Predicted]
    assumed: str
    assumed_queue: str | None
    start_s: float | None
    streams: list[Any] = field(repr=False, compare=False)

    @property
    def warnings(self) -> list[str]:
        """What could not be used, and why."""
        return self.notes

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return {
            "files": list(self.files),
            "directions": [each.to_dict() for each in self.directions],
            "limits": [
                {
                    "number": each.number,
                    "directions": [
                        {
                            "connection": self.directions[at].connection,
                            "from_client": self.directions[at].from_client,
                        }
                        for at in each.members
                    ],
                    "law": each.law.to_dict(),
                }
                for each in self.limits
            ],
            "predicted": [each.to_dict() for each in self.predicted],
            "assumed_queue": self.assumed_queue,
            "notes": self.notes,
            "start_s": self.start_s,
        }

    def report(self) -> str:
        """Return the answer as text for people."""
        from tidegate._identify.text import report

        return report(self.directions, self.limits, self.predicted, self.assumed_queue)

    def letter(self) -> str:
        """Return what to send to the provider of the link: what the capture shows, and what to ask.

        Where the capture tells no law, or its prediction contradicts the capture, it says why there is
        nothing to send.
        """
        from tidegate._identify.letter import letter
        from tidegate._identify.scenario import main_limit

        limit = main_limit(self.directions, self.limits)
        return letter(self.directions, self.limits, self.predicted, limit, self.start_s)

    def plot(self, path: str | os.PathLike[str]) -> Path:
        """Draw sequence numbers over time with the losses, and under it the tokens or the law.

        Raises:
            ArgumentError: the suffix is none of .png, .svg, .pdf, or there is nothing to draw.
            OSError: the file cannot be written.
        """
        from tidegate._identify.plot import picture

        return picture(self.directions, self.limits, self.streams, path)

    def scenario(self) -> str:
        """Return a scenario in TOML with the law, the round trips, and what the applications did.

        Raises:
            ArgumentError: no limit has a law that a scenario can state.
        """
        from tidegate._identify.scenario import scenario

        return scenario(self.directions, self.limits, self.streams, self.assumed)
