"""Every conversation of ``conversations`` with our endpoint, as the RFCs have it and as Linux does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conformance import judge, ours, script
from support.common import ROOT

ALL = script.conversations()
NOTES = (ROOT / "docs" / "kernel-notes" / "README.md").read_text(encoding="utf-8")
OURS = [
    pytest.param(
        talk, id=talk.name, marks=pytest.mark.xfail(reason=talk.fails, strict=True) if talk.fails else ()
    )
    for talk in ALL
    if talk.partner != "kernel"
]


@pytest.mark.parametrize("talk", OURS)
def test_the_endpoint_answers_as_the_conversation_has_it(talk: script.Conversation) -> None:
    found = judge.faults(talk, ours.Talk(talk).hold())
    assert not found, "\n".join([talk.title, *found])


def test_there_are_many_and_each_has_a_name_of_its_own() -> None:
    assert len({talk.title for talk in ALL}) >= 60
    assert len({talk.name for talk in ALL}) == len(ALL)


def test_where_endpoint_and_kernel_differ_a_note_says_why() -> None:
    for talk in ALL:
        assert not talk.fails or talk.partner != "kernel", talk.title
    for path in sorted(script.FOLDER.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("\n== ")[1:]:
            differs = re.search(r"^\[(kernel|ours)\] +\d", part, re.M) is not None
            title = part.splitlines()[0]
            assert differs <= ("\nnote " in part), f"{path.name}: {title}"
            assert not differs or title.split(" (")[0] in NOTES, f"docs/kernel-notes lacks: {title}"


def test_a_wrong_answer_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.txt"
    path.write_text("== Ten segments\nwith rfc\n0 write 20000\n0 > 1:9001\n10 = cwnd 10\n")
    (talk,) = script.read(path)
    first = judge.faults(talk, ours.Talk(talk).hold())
    assert first[0].startswith("unexpected:     0.0 > 9001:10001")
    path.write_text("== Ten segments\nwith rfc\n0 write 20000\n5 > 1:10001\n")
    (talk,) = script.read(path)
    assert judge.faults(talk, ours.Talk(talk).hold())[0].startswith("wrong.txt:4: expected 5 >")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 write 1", "wrong.txt:1: a title comes first"),
        ("== T\n0 write 1", "wrong.txt:2: say with whom first"),
        ("== T\nwith bsd", "wrong.txt:2: with whom"),
        ("== T\nwith rfc\n0 ? 1", "wrong.txt:3: cannot read"),
        ("== T\nwith rfc\n[nobody] 0 quiet", "wrong.txt:3: [nobody] is none of"),
        ("== T\nwith rfc\n0 < ack 1 fin", "wrong.txt:3: cannot read 'fin'"),
        ("== T\nwith rfc\n0 = mood 1", "wrong.txt:3: a state has no 'mood'"),
    ],
)
def test_a_wrong_script_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "wrong.txt"
    path.write_text(text)
    with pytest.raises(script.ScriptError) as refused:
        script.read(path)
    assert message in str(refused.value)
