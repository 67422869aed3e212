"""Random conversations: a peer and a path of their own answer our endpoint in virtual time, and what
they said becomes a script with fixed times, which can then be held with the kernel."""

from __future__ import annotations

import heapq
import math
import random
from typing import TYPE_CHECKING, Any

from conformance import ours, receiving, ways
from conformance.peer import Peer
from conformance.script import ACTS, Conversation, Step

if TYPE_CHECKING:
    from conformance.judge import Said

#: What the peer has sent of its own is sent again after so long.
AGAIN_MS = 330.0
#: Everything arrives at multiples of this, in ms.
GRAIN = 0.5
#: And so much later, so that no round trip is as long as the handshake's to some us.
LATER_MS = 0.2


def draw(kind: str, seed: int | str) -> Conversation:
    """Return the conversation of a kind and a seed, held with nobody yet."""
    rng = random.Random(f"{kind} {seed}")
    title = f"{kind} {seed}"
    if kind in receiving.KINDS:
        return receiving.draw(kind, title, rng)
    chosen = ways.draw(ways.KINDS[kind], rng)
    talk = Conversation(title, "linux", tcp=chosen.tcp, rtt_ms=chosen.rtt)
    talk.window = chosen.buffer or talk.window
    Play(talk, chosen, rng).go()
    end_ms = talk.newest_ms + 100
    talk.steps.append(Step(end_ms, end_ms, "quiet", {}, ""))
    return talk


class Play:
    """The endpoint, the path and the peer."""

    def __init__(self, talk: Conversation, chosen: ways.Ways, rng: random.Random) -> None:
        self.talk, self.ways, self.rng = talk, chosen, rng
        self.ours = ours.Talk(talk)
        self.peer = Peer(chosen, rng)
        #: What is to happen: time, number, and what with its particulars.
        self.queue: list[tuple[float, int, str, Any]] = []
        self.count = 0
        self.free_at = 0.0
        self.last_ack_at = 0.0
        self.losing = False
        self.heard = 0
        #: What the endpoint has acknowledged, and whether the connection is over.
        self.acknowledged = 1
        self.ended = False
        self.echoed = 0

    def plan(self, at_ms: float, what: str, of: Any) -> None:
        self.count += 1
        heapq.heappush(self.queue, (at_ms, self.count, what, of))

    def go(self) -> None:
        self.ours.shake_hands()
        for at_ms, size in self.ways.writes:
            self.plan(at_ms, "write", {"bytes": size})
        for at_ms, size in self.ways.reads:
            self.plan(at_ms, "read", size)
        if self.ways.ending:
            self.plan(self.ways.ending[0], self.ways.ending[1], {})
        for at_ms, size, last in self.ways.speaks:
            self.plan(at_ms, "speak", (size, last))
        for at_ms, ahead in self.ways.resets:
            self.plan(at_ms, "reset", ahead)
        while len(self.talk.steps) < self.ways.lines and not self.over():
            at_ms = self.queue[0][0] if self.queue else math.inf
            timer_s = self.ours.end.state.next_timer_s
            timer_ms = math.inf if timer_s is None else timer_s * 1000 - self.ours.start_ms + 1e-6
            if min(at_ms, timer_ms) > self.ways.until:
                break
            if timer_ms < at_ms:
                self.ours.hear(max(self.ours.now_ms, timer_ms))
                self.sent(by_itself=True)
                continue
            self.ours.hear(max(self.ours.now_ms, at_ms - 0.001))
            at_ms, _, what, of = heapq.heappop(self.queue)
            self.happen(at_ms, what, of)

    def over(self) -> bool:
        """BBR's cycle begins at a gain that the kernel draws."""
        return self.talk.tcp.get("cc") == "bbr" and "ProbeBW" in (self.ours.end.state.cc_detail or "")

    def happen(self, at_ms: float, what: str, of: Any) -> None:
        if what == "data":
            for answer in self.peer.hear(at_ms, *of):
                self.answer(at_ms, answer)
            if self.peer.owes_from is not None:
                self.plan(self.peer.owes_from + self.ways.patience, "flush", self.peer.owes_from)
        elif what == "read":
            for answer in self.peer.read(of):
                self.answer(at_ms, answer)
        elif what == "flush":
            if self.peer.owes_from == of:
                self.answer(at_ms, self.peer.ack())
        elif what in ("speak", "again", "reset"):
            self.speak(at_ms, what, of)
        elif self.ended and what != "<":
            # Nothing can be done any more.
            return
        else:
            step = Step(at_ms, at_ms, what, of, "")
            self.talk.steps.append(step)
            self.talk.newest_ms = at_ms
            self.ours.now_ms = at_ms
            if what in ACTS:
                self.ours.act(at_ms, step)
            else:
                self.ours.say(at_ms, step)
            self.ours.hear(at_ms)
            self.sent(by_itself=False)
            self.ended |= self.ours.end.state.connection == "CLOSED"

    def speak(self, at_ms: float, what: str, of: Any) -> None:
        """The peer sends of its own, again until it is acknowledged, or resets."""
        if self.ended:
            return
        if what == "reset":
            number = self.acknowledged + of
            self.answer(at_ms, {"flags": ["RST"], "data": [number, number]})
            return
        said = self.peer.speak(of[0], last=of[1]) if what == "speak" else of
        if said is not None and self.acknowledged < said["data"][1] + ("flags" in said):
            self.answer(at_ms, self.peer.ack() | said)
            self.plan(at_ms + AGAIN_MS, "again", said)

    def sent(self, *, by_itself: bool) -> bool:
        """Give what the endpoint sent to the path; return whether there was any."""
        new = self.ours.record.said[self.heard :]
        for said in new:
            self.heard += 1
            self.carry(said)
        if new and by_itself and not self.paced():
            self.keep_clear(new[-1].at_ms)
        return bool(new)

    def paced(self) -> bool:
        return self.talk.tcp.get("cc") == "bbr" and self.ours.end.state.phase != "loss"

    def keep_clear(self, at_ms: float) -> None:
        """A timer of the kernel rings late by its ticks: nothing arrives in the meantime."""
        since = at_ms - self.talk.newest_ms
        until = at_ms + (20 if since < 220 else 110 if since < 2000 else 350)
        moved = [(max(when, until) if what in ("<", *ACTS) else when, *rest, what, of)
                 for when, *rest, what, of in self.queue]  # fmt: skip
        self.queue = moved
        heapq.heapify(self.queue)
        self.last_ack_at = max(self.last_ack_at, until)

    def half(self, at_ms: float) -> float:
        """The time that one way takes."""
        rtt = self.ways.rtt
        for since, value in self.ways.jumps:
            rtt = value if at_ms >= since else rtt
        return rtt / 2

    def carry(self, said: Said) -> None:
        """The path loses, delays, repeats or marks a segment of the endpoint."""
        self.acknowledged = max(self.acknowledged, said.ack)
        self.ended |= "RST" in said.flags
        if "FIN" in said.flags and self.ways.follows is not None:
            self.plan(said.at_ms + self.half(said.at_ms) + self.ways.follows, "speak", (0, True))
        if (said.end == said.seq and not self.ways.buffer) or self.ended:
            return
        at, chance, of = said.at_ms, self.rng.random, self.ways
        lost = chance() < (of.burst_loss if self.losing else of.loss)
        self.losing = lost
        leaves = max(at, self.free_at) + of.spacing
        if (
            lost
            or any(start <= at < end for start, end in of.dark)
            or leaves - at > of.spacing * of.queue > 0
        ):
            return
        self.free_at = leaves
        late = of.late_by if chance() < of.late else 0.0
        marked = said.ecn.startswith("ECT") and chance() < of.mark
        segment = (said, self.heard, marked)
        self.plan(leaves + self.half(at) + late, "data", segment)
        if chance() < of.twice:
            self.plan(leaves + self.half(at) + self.rng.choice((0.0, 1.0, 15.0)), "data", segment)

    def answer(self, at_ms: float, of: dict[str, Any]) -> None:
        """The path loses, delays or repeats an ACK of the peer."""
        chance, known = self.rng.random, self.ways
        if chance() < known.ack_loss or any(start <= at_ms < end for start, end in known.mute):
            return
        grain = max(known.gather, GRAIN)
        arrives = -(-(at_ms + self.half(at_ms)) // grain) * grain + LATER_MS
        if chance() < known.ack_late:
            arrives += self.rng.choice((1.0, 5.0, 20.0))
        else:
            arrives = self.last_ack_at = max(arrives, self.last_ack_at)
        self.plan(arrives, "<", of)
        if chance() < known.ack_twice:
            self.plan(arrives + self.rng.choice((0.0, 2.0)), "<", of)
