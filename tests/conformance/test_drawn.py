"""Random conversations with this machine's kernel and our endpoint: ten of each kind, the same each time."""

from __future__ import annotations

import platform
from concurrent.futures import ThreadPoolExecutor

import pytest
from conformance import beside, live, shrink, table

pytestmark = pytest.mark.live
SEEDS = [f"fixed-{index}" for index in range(10)]
#: The kernel whose rules our base has.
WRITTEN_FROM = "6.18"


@pytest.fixture(scope="module")
def counts() -> dict[str, table.Count]:
    """Hold the conversations of all kinds; skip where the kernel cannot be reached."""
    if not platform.release().startswith(WRITTEN_FROM):
        pytest.skip(f"the base linux has the rules of {WRITTEN_FROM}, and this is {platform.release()}")
    with live.Programs(16) as programs, ThreadPoolExecutor(len(table.ALL)) as workers:
        if refusal := programs.refusal():
            pytest.skip(f"no conversation with the kernel: {refusal}")
        found = list(workers.map(lambda kind: table.judge(programs, kind, SEEDS), table.ALL))
        # A difference stays each time that its kind is played again, alone; the kernel's lateness does not.
        for _ in range(6):
            found = [_again(programs, count) if _open(count) else count for count in found]
    return {count.kind: count for count in found}


@pytest.mark.parametrize("kind", table.ALL)
def test_drawn_conversations_go_as_with_the_kernel(counts: dict[str, table.Count], kind: str) -> None:
    count = counts[kind]
    assert not count.errors
    still = _open(count)
    assert not still, "\n".join(shrink.written(held) for held in still)


def _open(count: table.Count) -> list[beside.Held]:
    return [held for name, some in count.named.items() if name.startswith(count.kind + " ") for held in some]


def _again(programs: live.Programs, count: table.Count) -> table.Count:
    """Return what differs in another play too."""
    before = {held.talk.title for held in _open(count)}
    again = table.judge(programs, count.kind, SEEDS)
    for name in [held.talk.title for held in _open(again) if held.talk.title not in before]:
        again.named.pop(name, None)
    return again
