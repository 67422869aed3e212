"""The conversations of ``conversations`` with this machine's kernel, where root and TUN devices are there."""

from __future__ import annotations

import platform

import pytest
from conformance import judge, live, script

KERNEL = [talk for talk in script.conversations() if talk.partner == "kernel"]
pytestmark = pytest.mark.live
#: A conversation that differs is held again, alone: this machine may have been late.
TRIES = 4
#: The kernel that the conversations describe. Another one may differ; its tests then say so and do not fail.
WRITTEN_FROM = "6.18"


@pytest.fixture(scope="module")
def records() -> dict[str, judge.Record | str]:
    """Hold all of them, several at once; skip where the kernel cannot be reached."""
    with live.Programs(1) as program:
        if refusal := program.refusal():
            pytest.skip(f"no conversation with the kernel: {refusal}")
    return live.hold(KERNEL)


@pytest.mark.parametrize("talk", KERNEL, ids=lambda talk: talk.name)
def test_the_kernel_answers_as_the_conversation_has_it(
    talk: script.Conversation, records: dict[str, judge.Record | str]
) -> None:
    record = records[talk.name]
    for _ in range(TRIES):
        assert isinstance(record, judge.Record), record
        found = judge.faults(talk, record)
        if not found:
            return
        record = live.hold([talk])[talk.name]
    message = "\n".join([talk.title, f"the script was up to {record.late_ms:.1f} ms late", *found])
    if not platform.release().startswith(WRITTEN_FROM):
        pytest.xfail(f"kernel {platform.release()} is not {WRITTEN_FROM}: {message}")
    raise AssertionError(message)
