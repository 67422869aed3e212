"""What one visitor may ask of the laboratory; its page has the same bounds from here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of a request and of a run; what lies beyond is refused in words."""

    #: Bytes of a request.
    body: int = 1_000_000
    #: Seconds within which it has to come.
    body_s: float = 20.0
    #: Seconds that a scenario may last in its own time.
    duration_s: float = 3600.0
    #: Flows, and background sources, of a scenario, copies counted.
    flows: int = 2000
    #: Seconds that an answer may take.
    wall_s: float = 30.0
    #: Seconds that a live run may last.
    live_s: float = 600.0
    #: Bytes that a run may need beside the program itself.
    memory: int = 1_000_000_000
    #: Scenarios of a comparison.
    variants: int = 4
    #: Samples of a run: as many as a chart has pixels.
    samples: int = 1000
    #: Runs with small changes beside one.
    perturb: int = 64
    #: Requests that wait for a free process.
    waiting: int = 32
    #: Connections at a time.
    connections: int = 64


class RefusedError(Exception):
    """A request that is not answered: the HTTP status, and why, in one sentence."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
