"""A player of video over the kernel's TCP, beside the simulator."""

from __future__ import annotations

from typing import Any

import pytest
import tidegate as tg

pytestmark = pytest.mark.live

SCENARIO: dict[str, Any] = {
    "duration": "5 s",
    "seed": 1,
    "gate": {"link": {"rate": "3 Mbit/s", "delay": "10 ms"}},
    "flow": {
        "player": {
            "path": ["link"],
            "rtt": "40 ms",
            "app": {
                "video": {
                    "ladder": ["500 kbit/s", "1 Mbit/s", "4 Mbit/s"],
                    "segment": "500 ms",
                    "buffer": "2 s",
                }
            },
        }
    },
    "record": {"every": "50 ms"},
}


def test_the_kernels_tcp_shows_what_the_simulator_shows() -> None:
    try:
        live = tg.run(SCENARIO, engine="live")
    except tg.errors.EngineError as error:
        pytest.skip(str(error))
    simulated = tg.run(SCENARIO)
    here, there = (run.videos["player"] for run in (live, simulated))
    assert (here["stalls"], here["switches"]) == (0, 1)
    assert here["join_s"] == pytest.approx(there["join_s"], abs=0.05)
    assert here["segments"] == pytest.approx(there["segments"], abs=1)
    segments = live.table("segments")
    assert segments["bitrate_bps"].to_list()[:5] == [5e5, *[1e6] * 4]
    assert segments["buffer_s"].max() <= 2  # type: ignore[operator]
