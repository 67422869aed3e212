"""A conversation with our endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tidegate as tg
from conformance.judge import Record, Said
from conformance.script import ACTS, MSS

if TYPE_CHECKING:
    from conformance.script import Conversation, Step

#: What scripts leave open: plain segments without timestamps.
ALWAYS: dict[str, Any] = {"mss": f"{MSS} B", "timestamps": False}
#: What the kernel calls reno is the RFCs' NewReno.
CONTROLLER = "newreno"


class Talk:
    """Holds a conversation with an endpoint of ours."""

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        base = {"base": talk.partner, "cc": CONTROLLER}
        read = "by hand" if talk.reads else "at once"
        self.end = tg.tcp.Endpoint(talk.role, read=read, **(ALWAYS | base | talk.tcp))
        self.stamps = (ALWAYS | talk.tcp)["timestamps"]
        self.start_ms = 0.0
        self.record = Record()
        #: Timestamps that were heard: in the handshake, and in the script.
        self.before: list[int] = [0]
        self.echoes: list[int] = []
        self.now_ms = 0.0

    def hold(self) -> Record:
        """Say every line; return what was answered."""
        if not self.talk.scripted and self.talk.tcp.get("handshake", True):
            self.shake_hands()
        for step in self.talk.steps:
            if step.what in ("<", *ACTS):
                # At one instant what arrives comes before a timer.
                self.hear(max(self.now_ms, step.at_ms - 0.001))
                self.now_ms = step.at_ms
            if step.what in ACTS:
                self.act(step.at_ms, step)
            elif step.what == "<":
                self.say(step.at_ms, step)
            elif step.what == "=":
                self.hear(step.at_ms)
                self.record.states.append(self.state())
        self.hear(self.talk.end_ms)
        return self.record

    def shake_hands(self) -> None:
        rtt_ms = self.talk.rtt_ms
        stamp = {"timestamps": (1, 1)} if self.stamps else {}
        ecn = self.talk.tcp.get("ecn") == "classic"
        if self.talk.role == "active":
            self.end.poll(0)
            self.end.receive(
                f"{rtt_ms} ms", flags="SYN ACK ECE" if ecn else "SYN ACK", window=self.talk.window, **stamp
            )
            self.before = [sent.timestamps[0] for sent in self.end.poll(f"{rtt_ms} ms") if sent.timestamps]
        else:
            self.end.receive(0, flags="SYN ECE CWR" if ecn else "SYN", window=self.talk.window, **stamp)
            self.before = [sent.timestamps[0] for sent in self.end.poll(0) if sent.timestamps]
            self.end.receive(f"{rtt_ms} ms", window=self.talk.window, **stamp)
        self.start_ms = rtt_ms

    def at(self, at_ms: float) -> str:
        return f"{at_ms + self.start_ms:.6f} ms"

    def hear(self, until_ms: float) -> None:
        """Take what was sent so far."""
        self.now_ms = until_ms
        for sent in self.end.poll(self.at(until_ms)):
            if sent.timestamps:
                self.echoes.append(sent.timestamps[0])
            at_ms = sent.time_s * 1000 - self.start_ms
            flags = tuple(sent.flags.split())
            echo = sent.timestamps[1] if sent.timestamps else None
            said = Said(
                at_ms,
                sent.seq,
                sent.ack,
                sent.payload,
                flags,
                sent.sack,
                sent.window,
                ecn=sent.ecn,
                echo=echo,
                accecn=sent.accecn,
            )
            self.record.said.append(said)

    def act(self, at_ms: float, step: Step) -> None:
        """Let the application do what a line says."""
        if step.what in ("write", "read"):
            getattr(self.end, step.what)(self.at(at_ms), step.of["bytes"])
        else:
            getattr(self.end, step.what)(self.at(at_ms))

    def say(self, at_ms: float, step: Step) -> None:
        """Let a line's segment arrive."""
        of = step.of
        given: dict[str, Any] = {"flags": " ".join([*of.get("flags", []), *(["ACK"] if "ack" in of else [])])}
        if "data" in of:
            given |= {"seq": of["data"][0] % 2**32, "payload": of["data"][1] - of["data"][0]}
            given["flags"] = given["flags"] or "ACK"
        given |= {name: of[name] for name in ("ack", "ecn", "accecn") if name in of}
        if self.stamps:
            # A segment that was not sent cannot be echoed.
            sent = 0 < of.get("echo", 0) <= len(self.echoes)
            echo = self.echoes[of["echo"] - 1] if sent else [*self.before, *self.echoes][-1]
            given["timestamps"] = (
                of.get("stamp", int(step.at_ms) + 2),
                echo if "ACK" in given["flags"] else 0,
            )
        self.end.receive(
            self.at(at_ms),
            window=of.get("win", self.talk.window),
            sack=[tuple(each) for each in of.get("sack", [])],
            **given,
        )

    def state(self) -> dict[str, Any]:
        state = self.end.state
        return {
            "cwnd": state.cwnd_segments,
            "ssthresh": state.ssthresh_segments,
            "ca": state.ca_state,
            "reordering": state.reordering_segments,
            "delivered_ce": state.delivered_ce_segments,
            "busy": state.busy_s * 1000,
            "receiver_limited": state.receiver_limited_s * 1000,
            "phase": state.phase,
            "connection": state.connection,
            "rto": state.rto_s * 1000,
            "srtt": None if state.srtt_s is None else state.srtt_s * 1000,
            "lost": state.lost_segments,
            "sacked": state.sacked_segments,
            "retrans": state.retransmitted_segments,
            "out": state.outstanding_segments,
        }
