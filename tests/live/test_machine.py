"""What excuses a failed live test: lateness that was measured, and nothing else."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from support.machine import TOO_LATE_S, Watch


def test_a_machine_that_stands_still_is_noticed() -> None:
    with Watch() as watch:
        os.kill(watch.process, signal.SIGSTOP)
        time.sleep(3 * TOO_LATE_S)
        os.kill(watch.process, signal.SIGCONT)
        assert watch.worst_s() > TOO_LATE_S


def test_a_watch_leaves_no_process() -> None:
    with Watch() as watch:
        process = watch.process
    assert not Path(f"/proc/{process}").exists()
