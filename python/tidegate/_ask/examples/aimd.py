"""A congestion controller of one's own: adds a segment each round trip, and halves after a loss.

``examples/own-controller.toml`` names it: ``cc = "python:aimd.py:Aimd"``.
"""

import tidegate as tg


class Aimd(tg.CongestionControl):
    """Additive increase, multiplicative decrease, with a slow start."""

    def on_ack(self, ack: tg.Ack) -> None:
        """Grow outside repairs, and only if the window is what limits the sender."""
        if ack.repair is not None or not ack.window_limited:
            return
        if self.ssthresh_bytes is None or self.window_bytes < self.ssthresh_bytes:
            self.window_bytes += ack.delivered_bytes
        else:
            self.window_bytes += self.mss_bytes * ack.delivered_bytes / self.window_bytes

    def on_loss(self, _loss: tg.Loss) -> None:
        """Halve."""
        self.ssthresh_bytes = max(self.window_bytes / 2, 2 * self.mss_bytes)
        self.window_bytes = self.ssthresh_bytes

    def on_timeout(self, loss: tg.Loss) -> None:
        """Begin with one segment."""
        if not loss.again:
            self.ssthresh_bytes = max(loss.in_flight_bytes / 2, 2 * self.mss_bytes)
        self.window_bytes = self.mss_bytes
