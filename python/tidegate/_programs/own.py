"""The base classes of a user's own code, whose wrong arguments are refused as those of other calls are."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Self

from tidegate import _core
from tidegate._base.arguments import above_zero, whole
from tidegate._base.calls import checked
from tidegate._base.limits import MOST_WHOLE
from tidegate.errors import ArgumentError


class CongestionControl(_core.CongestionControl):
    """The base class of controllers.

    A subclass has ``on_ack``, ``on_loss``, ``on_timeout`` and sets the attributes that the sender obeys after
    each call: ``window_bytes``, ``pacing_bps``, ``ssthresh_bytes``. It is made with ``mss_bytes``,
    ``initial_window_bytes`` and ``seed``, for random numbers of its own.
    """

    __slots__ = ()

    def __new__(cls, *, mss_bytes: int = 1460, initial_window_bytes: int = 14600, seed: int = 0) -> Self:
        return super().__new__(
            cls,
            mss_bytes=whole("mss_bytes", mss_bytes, 1, 2**32 - 1),
            initial_window_bytes=whole("initial_window_bytes", initial_window_bytes, 0, MOST_WHOLE),
            # That of a connection, which a run draws, has all 64 bits.
            seed=whole("seed", seed, 0, MOST_WHOLE),
        )


class VideoRule(_core.VideoRule):
    """The base class of rules by which a player of video chooses bitrates.

    A subclass has ``choose``. It is made with ``ladder_bps``, the bitrates from the lowest up, ``segment_s``,
    media time of a segment, and ``buffer_s``, the most in the buffer.
    """

    __slots__ = ()

    @checked
    def __new__(
        cls, *, ladder_bps: Sequence[float] = (1e6,), segment_s: float = 4.0, buffer_s: float = 60.0
    ) -> Self:
        ladder = [above_zero(f"ladder_bps[{place}]", bps) for place, bps in enumerate(ladder_bps)]
        if not ladder:
            raise ArgumentError("ladder_bps: the list is empty; give one bitrate or more, in bit/s")
        for place, (below, bps) in enumerate(itertools.pairwise(ladder), 1):
            if bps <= below:
                raise ArgumentError(
                    f"ladder_bps[{place}]: {bps:g} is not above {below:g}, the bitrate before it; give them "
                    "from the lowest to the highest"
                )
        segment, buffer = above_zero("segment_s", segment_s), above_zero("buffer_s", buffer_s)
        if segment > buffer:
            raise ArgumentError(
                f"segment_s: a segment of {segment:g} s does not fit into a buffer of {buffer:g} s; make "
                "buffer_s longer, or segment_s shorter"
            )
        return super().__new__(cls, ladder_bps=ladder, segment_s=segment, buffer_s=buffer)
