"""Who may ask the laboratory, and what its server refuses."""

from __future__ import annotations

import http.client
import json
import re
import socket
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from support.common import EXAMPLES, ROOT, SMALL
from support.laboratory import TOKEN, Running, ask, running
from tidegate._lab.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path


def refused(lab: Running, status: int, words: str, *arguments: Any, **more: Any) -> None:
    """Expect a refusal that says why, and that the server goes on."""
    found, answer = ask(lab, *arguments, **more)
    assert (found, words in answer["error"]) == (status, True), answer
    assert ask(lab, "GET", f"/{TOKEN}/api/status")[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "", "[::2]:PORT"]
)
@pytest.mark.parametrize("path", ["", "api/start", "lab.js"])
def test_another_name_is_refused(lab: Running, host: str, path: str) -> None:
    # DNS rebinding: a site lets its own name point to this machine, so that its pages may read answers.
    host = host.replace("PORT", str(lab.port))
    refused(lab, 421, "is not called", "GET", f"/{TOKEN}/{path}", headers={"Host": host})


def test_its_own_names_are_fine(lab: Running) -> None:
    for name in ("127.0.0.1", "localhost", "LocalHost", "[::1]"):
        assert ask(lab, "GET", f"/{TOKEN}/api/status", headers={"Host": f"{name}:{lab.port}"})[0] == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
def test_a_page_of_another_site_is_refused(lab: Running, origin: str) -> None:
    for method, body in (("GET", None), ("POST", {"text": SMALL})):
        path = f"/{TOKEN}/api/{'status' if method == 'GET' else 'run'}"
        refused(
            lab, 403, "only the laboratory's own page may", method, path, body, headers={"Origin": origin}
        )


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_from_another_site_is_refused(lab: Running, site: str) -> None:
    headers = {"Sec-Fetch-Site": site}
    refused(lab, 403, "another site", "GET", f"/{TOKEN}/api/status", headers=headers)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/status",
        "/wrong/api/status",
        f"/{TOKEN}x/",
        f"/{TOKEN[:-1]}/",
        f"/%2F{TOKEN}/",
        "*",
    ],
)
def test_a_wrong_token_is_refused(lab: Running, path: str) -> None:
    refused(lab, 403, "token", "GET", path)


@pytest.mark.parametrize(
    "path",
    [
        "../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "lab.js/../../server.py", "%2e%2e/render.py",
        "api/../../x", "built/lab.js", "LAB.JS", "lab.js%00.html",
    ],
)  # fmt: skip
def test_nothing_else_is_served(lab: Running, path: str) -> None:
    refused(lab, 404, "there is nothing at", "GET", f"/{TOKEN}/{path}")


@pytest.mark.parametrize(
    "name",
    ["../secret.toml", "..%2Fsecret.toml", "%2Fetc%2Fpasswd", "/etc/passwd", "link.toml", "nix.toml",
     "in/a.toml", "small.toml%00", "note.txt", ""],
)  # fmt: skip
def test_no_file_outside_the_folder_is_read(lab: Running, name: str) -> None:
    refused(lab, 404, "there is no scenario", "GET", f"/{TOKEN}/api/file?name={name}")


def test_a_file_of_the_folder_is(lab: Running) -> None:
    assert ask(lab, "GET", f"/{TOKEN}/api/file?name=small.toml") == (
        200,
        {"name": "small.toml", "text": SMALL},
    )
    assert ask(lab, "GET", f"/{TOKEN}/api/start")[1]["files"] == ["small.toml"]


@pytest.mark.parametrize("trace", ["/etc/passwd", "../secret.csv", "link.csv", "/dev/zero", "nix.csv"])
@pytest.mark.parametrize("what", ["check", "run"])
def test_a_scenario_reads_nothing_outside_the_folder(lab: Running, trace: str, what: str) -> None:
    text = SMALL.replace('rate = "4 Mbit/s"', f"rate.trace = '{trace}'")
    words = "there is no such file in the scenario's folder"
    refused(lab, 422, words, "POST", f"/{TOKEN}/api/{what}", {"text": text})


def test_a_scenario_executes_no_code(lab: Running, folder: Path) -> None:
    (folder / "evil.py").write_text("raise SystemExit(7)\n")
    text = SMALL.replace('"newreno"', '"python:evil.py:Evil"')
    refused(lab, 422, "in Python is not run", "POST", f"/{TOKEN}/api/run", {"text": text})


def test_a_recorded_link_of_the_folder_is_read(lab: Running, folder: Path) -> None:
    (folder / "mine.csv").write_bytes((EXAMPLES / "cellular.csv").read_bytes())
    text = SMALL.replace('rate = "4 Mbit/s"', 'rate.trace = "mine.csv"')
    assert ask(lab, "POST", f"/{TOKEN}/api/run", {"text": text})[0] == 200


def test_too_long_and_too_many_are_refused(lab: Running) -> None:
    path = f"/{TOKEN}/api/run"
    for text, status, words in (
        (SMALL.replace('"6 s"', '"1000000000 s"'), 422, "is too large"),
        (SMALL.replace('"6 s"', '"1000000 s"'), 413, "3600 s at most"),
        (SMALL + "count = 10000000\n", 413, "flow: the scenario has 10000000;"),
        (SMALL + "count = 2001\n", 413, "flow: the scenario has 2001;"),
        (SMALL + 'x = "' + "[" * 100_000 + '"', 422, ""),
        ("a = " + "[" * 100_000, 422, ""),
    ):
        refused(lab, status, words, "POST", path, {"text": text})


def test_a_run_that_takes_too_long_is_stopped(folder: Path) -> None:
    # An hour at 1 Gbit/s: minutes of work, little memory.
    text = SMALL.replace('"6 s"', '"3600 s"').replace("4 Mbit/s", "1 Gbit/s").replace("0.002", "0")
    text = text.replace("20 packets", "2000 packets")
    with running(folder, limits=Limits(wall_s=5.0)) as lab:
        refused(lab, 413, "the run took longer than 5 s", "POST", f"/{TOKEN}/api/run", {"text": text})


def test_a_gigabyte_is_refused_unread(lab: Running) -> None:
    for more in ({}, {"Expect": "100-continue"}):
        with closing(socket.create_connection(("127.0.0.1", lab.port), timeout=20)) as client:
            head = {"Host": f"127.0.0.1:{lab.port}", "Content-Type": "application/json", **more}
            lines = [f"POST /{TOKEN}/api/run HTTP/1.1", *(f"{k}: {v}" for k, v in head.items())]
            client.sendall("\r\n".join([*lines, "Content-Length: 1000000000", "", ""]).encode())
            if not more:
                client.sendall(b"x" * 3_000_000)
            answer = client.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"1000000000 bytes" in answer
    assert ask(lab, "GET", f"/{TOKEN}/api/status")[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Length": "-5"}, 411), ({"Content-Length": "9" * 400}, 413),
        ({"Content-Length": "0x10"}, 411),
        ({"Transfer-Encoding": "chunked"}, 411), ({"Content-Type": "text/plain"}, 415),
    ],
)  # fmt: skip
def test_a_body_of_unknown_length_or_kind_is_refused(
    lab: Running, headers: dict[str, str], status: int
) -> None:
    head = {"Content-Length": "2", "Content-Type": "application/json", **headers}
    if "Transfer-Encoding" in head:
        del head["Content-Length"]
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=20)
    connection.putrequest("POST", f"/{TOKEN}/api/run")
    for name, value in head.items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(b"{}")
    answer = connection.getresponse()
    assert answer.status == status
    assert json.loads(answer.read())["error"]
    connection.close()


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "3", "nul", "[" * 200_000, '{"text": 5}', '{"text": "\\ud800"}']
)
def test_what_is_no_question_is_refused(lab: Running, body: str) -> None:
    found, answer = ask(lab, "POST", f"/{TOKEN}/api/run", raw=body.encode())
    assert found in (400, 404, 422), answer
    assert answer["error"]


@pytest.mark.parametrize("what", ["nix", "__init__", "run/", "", "answer"])
def test_there_is_no_other_question(lab: Running, what: str) -> None:
    refused(lab, 404, "there is nothing at", "POST", f"/{TOKEN}/api/{what}", {"text": SMALL})


@pytest.mark.parametrize(
    "line", ["GARBAGE", "GET / HTTP/9.9", "GET " + "x" * 70_000 + " HTTP/1.1", "PUT / HTTP/1.1"]
)
def test_what_is_no_request_is_refused(lab: Running, line: str) -> None:
    with closing(socket.create_connection(("127.0.0.1", lab.port), timeout=20)) as client:
        client.sendall(f"{line}\r\nHost: 127.0.0.1:{lab.port}\r\n\r\n".encode())
        assert client.makefile("rb").read(9) == b"HTTP/1.1 "
    assert ask(lab, "GET", f"/{TOKEN}/api/status")[0] == 200


def test_answers_let_nothing_in_and_nothing_out(lab: Running) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=20)
    connection.request("GET", f"/{TOKEN}/")
    answer = connection.getresponse()
    rules = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in rules
    assert "frame-ancestors 'none'" in rules
    assert "http" not in rules
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in answer.headers
    assert "Python" not in answer.headers["Server"]
    connection.close()


def test_a_body_that_comes_too_slowly_is_refused(folder: Path) -> None:
    with running(folder, limits=Limits(body_s=0.5)) as lab:
        with closing(socket.create_connection(("127.0.0.1", lab.port), timeout=20)) as client:
            head = f"POST /{TOKEN}/api/run HTTP/1.1\r\nHost: 127.0.0.1:{lab.port}\r\n"
            head += "Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"
            client.sendall(head.encode())
            answer = client.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"did not come whole within 0.5 s" in answer
        assert ask(lab, "GET", f"/{TOKEN}/api/status")[0] == 200


def test_connections_that_only_wait_make_room(folder: Path) -> None:
    with running(folder, limits=Limits(connections=4)) as lab:
        place = ("127.0.0.1", lab.port)
        waiting = [socket.create_connection(place, timeout=20) for _ in range(4)]
        for client in waiting:
            client.sendall(b"GET /")
        with closing(socket.create_connection(place, timeout=20)) as more:
            assert b"too many connections" in more.makefile("rb").read(), "they have just come"
        time.sleep(2.2)
        assert ask(lab, "GET", f"/{TOKEN}/api/status")[0] == 200
        for client in waiting:
            client.close()


@pytest.mark.parametrize("name", ["Host", "Origin"])
def test_a_header_that_is_there_twice_is_refused(lab: Running, name: str) -> None:
    own = f"127.0.0.1:{lab.port}" if name == "Host" else f"http://127.0.0.1:{lab.port}"
    lines = [f"GET /{TOKEN}/api/status HTTP/1.1", f"Host: 127.0.0.1:{lab.port}"]
    lines += [f"{name}: {own}", f"{name}: http://evil.example"]
    assert said(lab, lines).startswith("HTTP/1.1 400 ")


def test_the_host_in_a_target_counts(lab: Running) -> None:
    host = f"Host: 127.0.0.1:{lab.port}"
    foreign = said(lab, [f"GET http://evil.example/{TOKEN}/api/status HTTP/1.1", host])
    assert foreign.startswith("HTTP/1.1 421 ")
    own = said(lab, [f"GET http://127.0.0.1:{lab.port}/{TOKEN}/api/status HTTP/1.1", host])
    assert own.startswith("HTTP/1.1 200 ")


def said(lab: Running, lines: list[str]) -> str:
    """Return the first line of the answer to a request that is written as it is."""
    with closing(socket.create_connection(("127.0.0.1", lab.port), timeout=20)) as connection:
        connection.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        return connection.makefile("r", encoding="latin-1").readline()


@pytest.mark.parametrize("variants", [[None, None], [{}, None], [5, 5], ["a", "b"], [[], []]])
def test_variants_of_another_kind_are_refused(lab: Running, variants: list[Any]) -> None:
    words = "the request has no scenario" if variants == [{}, {}] else "variants: read"
    refused(lab, 400, words, "POST", f"/{TOKEN}/api/compare", {"variants": variants, "page": "p"})


@pytest.mark.parametrize("letter", ["a", "ä", "\U0001f30a"])
def test_a_long_name_of_a_file_is_none(lab: Running, letter: str) -> None:
    from urllib.parse import quote

    name = quote(letter * 300)
    refused(lab, 404, "there is no scenario", "GET", f"/{TOKEN}/api/file?name={name}.toml")


def test_the_guide_tells_the_limits() -> None:
    most = Limits()
    page = (ROOT / "docs" / "guide" / "lab.md").read_text(encoding="utf-8")
    assert f"A run has {most.wall_s:g} s and {most.memory / 1e9:g} GB at most" in page
    rows = re.findall(r"^\| (.+?) \| (.+?) \|$", page.partition("What is too large")[2], re.M)
    assert dict(rows) == {
        "a scenario's duration": f"{most.duration_s:g} s",
        "flows, background sources, calls": f"{most.flows} of each",
        "time for an answer": f"{most.wall_s:g} s",
        "a live run": f"{most.live_s:g} s, one at a time",
        "memory of a run": f"{most.memory / 1e9:g} GB",
        "scenarios of a comparison": f"{most.variants}",
        "a request": f"{most.body / 1e6:g} MB",
    }
