"""The laboratory's server: the page, and what the page asks for."""

from __future__ import annotations

import contextlib
import itertools
import json
import select
import socket
import time
from base64 import b64decode
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from tidegate._lab.files import examples_folder, gallery, scenarios, text_of
from tidegate._lab.guard import Guard
from tidegate._lab.limits import RefusedError
from tidegate._lab.pool import Pool
from tidegate._lab.room import Room, refuse
from tidegate._lab.streams import LiveRuns
from tidegate.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Mapping

_BUILT = Path(__file__).parents[1] / "_page" / "built"
#: What the page is made of: these names and no others.
_PAGE = {
    "": ("lab.html", "text/html; charset=utf-8"),
    "lab.js": ("lab.js", "text/javascript; charset=utf-8"),
    "lab.css": ("lab.css", "text/css; charset=utf-8"),
    "LICENSES.txt": ("LICENSES.txt", "text/plain; charset=utf-8"),
}
_KINDS = {
    "toml": "application/toml",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "html": "text/html; charset=utf-8",
}
#: Nothing is loaded from elsewhere, nobody frames the page, and the token goes nowhere.
_RULES = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
#: What a page may have done, and the lane in which its newest wish takes the place of the one before.
_LANES = {"check": "check", "run": "run", "compare": "run", "theory": "theory", "download": "download"}
#: Seconds for which a connection may say nothing.
_PATIENCE_S = 60
#: Seconds for which the rest of a refused request is thrown away.
_DRAIN_S = 2.0


class Laboratory(ThreadingHTTPServer):
    """A server for one folder and, where one is given, one scenario of it."""

    daemon_threads = True
    # Whoever starts it again at once gets its port again.
    allow_reuse_address = True

    def __init__(
        self, place: tuple[str, int], guard: Guard, pool: Pool, folder: Path, file: str | None
    ) -> None:
        #: None: whoever reaches this laboratory may not have the kernel of its machine send.
        self.live: LiveRuns | None = LiveRuns(guard.limits)
        self.guard = guard
        self.pool = pool
        self.folder = folder
        self.file = file
        self.room = Room(guard.limits.connections)
        super().__init__(place, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, or say that there are too many."""
        if self.room.enter():
            super().process_request(request, client_address)
        else:
            refuse(request)
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer, then make room."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.room.leave(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a visitor who goes away is no error."""


def _written(event: tuple[str, Any] | None) -> bytes:
    """Return an event as its stream has it; None as a comment, which says nothing."""
    if event is None:
        return b":\n\n"
    name, data = event
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f"event: {name}\ndata: {text}\n\n".encode(errors="replace")


class _Handler(BaseHTTPRequestHandler):
    server: Laboratory
    protocol_version = "HTTP/1.1"
    server_version = "tidegate"
    sys_version = ""
    timeout = _PATIENCE_S
    # Else the end of an answer waits until its beginning was acknowledged: 40 ms.
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def handle_one_request(self) -> None:
        """Wait for a request and answer it; who only waits makes room for others."""
        self.server.room.waits(self.connection)
        super().handle_one_request()

    def _answer(self, work: Any) -> None:
        try:
            work()
        except RefusedError as error:
            # What was not read of the request must not be taken for the next one.
            self.close_connection = True
            self._json(error.status, {"error": error.reason})
            self._drain()
        except UnknownNameError as error:
            self.close_connection = True
            self._json(404, {"error": str(error)})

    def handle_expect_100(self) -> bool:
        """Refuse before the body is sent."""
        try:
            self.server.guard.path(self.path, self.headers)
            self.server.guard.size(self.headers)
        except RefusedError as error:
            self.close_connection = True
            self._json(error.status, {"error": error.reason})
            return False
        return super().handle_expect_100()

    def _drain(self) -> None:
        """Take what still comes for a moment: a connection that is closed before loses the answer."""
        end = time.monotonic() + _DRAIN_S
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while time.monotonic() < end:
                ready, _, _ = select.select([self.connection], [], [], 0.1)
                if ready and not self.connection.recv(1 << 16):
                    return

    def _get(self) -> None:
        asked = self.server.guard.path(self.path, self.headers)
        if asked in _PAGE:
            name, kind = _PAGE[asked]
            self._send(200, (_BUILT / name).read_bytes(), kind)
        elif asked == "api/schema":
            from tidegate._ask.scenario import schema

            self._json(200, schema())
        elif asked == "api/gallery":
            self._json(200, {"examples": gallery()})
        elif asked == "api/start":
            self._json(200, self._start())
        elif asked == "api/status":
            self._json(200, self.server.pool.state())
        elif asked == "api/file":
            name = parse_qs(urlsplit(self.path).query).get("name", [""])[0]
            self._json(200, {"name": name, "text": text_of(self.server.folder, name)})
        else:
            raise RefusedError(404, f'there is nothing at "{asked[:80]}"')

    def _start(self) -> dict[str, Any]:
        """Return what the page begins with."""
        from tidegate import _core

        file = self.server.file
        return {
            "version": _core.build_info()["tidegate"],
            "limits": asdict(self.server.guard.limits),
            "folder": self.server.folder.name,
            "files": scenarios(self.server.folder),
            "file": file,
            "text": None if file is None else text_of(self.server.folder, file),
        }

    def _post(self) -> None:
        guard = self.server.guard
        asked = guard.path(self.path, self.headers)
        length = guard.size(self.headers)
        try:
            job = json.loads(self._body(length))
            # Half a letter, which JSON can spell, is no text.
            json.dumps(job, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            raise RefusedError(400, f"the request is not JSON: {error}") from None
        if asked == "api/live" and isinstance(job, dict):
            self._live(job)
            return
        what = asked.removeprefix("api/")
        if not isinstance(job, dict) or asked == what or what not in _LANES:
            raise RefusedError(404, f'there is nothing at "{asked[:80]}"')
        page = str(job.get("page"))[:80]
        work = {**job, "do": what, "folder": str(self._folder(job))}
        self._send_result(self.server.pool.do(page, _LANES[what], work, self._is_gone))

    def _body(self, length: int) -> bytes:
        """Return the body, which has to come within some seconds."""
        end = time.monotonic() + self.server.guard.limits.body_s
        parts: list[bytes] = []
        while length > 0:
            try:
                self.connection.settimeout(max(0.01, end - time.monotonic()))
                part = self.rfile.read1(min(length, 1 << 16))
            except TimeoutError:
                seconds = self.server.guard.limits.body_s
                raise RefusedError(408, f"the request did not come whole within {seconds:g} s") from None
            if not part:
                break
            parts.append(part)
            length -= len(part)
        self.connection.settimeout(_PATIENCE_S)
        self.server.room.works(self.connection)
        return b"".join(parts)

    def _folder(self, job: Mapping[str, Any]) -> Path:
        return examples_folder() if job.get("from") == "examples" else self.server.folder

    def _live(self, job: Mapping[str, Any]) -> None:
        """Make a live run and send what it tells as server-sent events (HTML standard, 9.2)."""
        if self.server.live is None:
            raise RefusedError(
                403, "live runs are for this machine alone; this laboratory lets others in the network in"
            )
        events = self.server.live.run(
            {"text": job.get("text"), "folder": str(self._folder(job))}, self._is_gone
        )
        # A refusal comes with the first event, before anything is sent.
        first = next(events)
        self.close_connection = True
        with contextlib.closing(events), contextlib.suppress(OSError):
            self._head(200, {"Content-Type": "text/event-stream", "Connection": "close"})
            for event in itertools.chain([first], events):
                self.wfile.write(_written(event))

    def _send_result(self, found: Mapping[str, Any]) -> None:
        if "file" in found:
            name = f'attachment; filename="tidegate.{found["kind"]}"'
            data = b64decode(found["file"])
            self._send(200, data, _KINDS[found["kind"]], {"Content-Disposition": name})
        else:
            self._json(int(found["status"]), found["body"])

    def _is_gone(self) -> bool:
        """Whether the page has closed the connection."""
        try:
            ready, _, _ = select.select([self.connection], [], [], 0)
            return bool(ready) and self.connection.recv(1, socket.MSG_PEEK) == b""
        except (OSError, ValueError):
            return True

    def _json(self, status: int, what: Any) -> None:
        text = json.dumps(what, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        self._send(status, text.encode(errors="replace"), "application/json")

    def _send(self, status: int, data: bytes, kind: str, more: Mapping[str, str] | None = None) -> None:
        about = {"Content-Type": kind, **(more or {}), "Content-Length": str(len(data))}
        try:
            self._head(status, {**about, **({"Connection": "close"} if self.close_connection else {})})
            self.wfile.write(data)
        except OSError:
            self.close_connection = True

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {**_RULES, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:  # noqa: ARG002
        """Refuse what is no request, in the form of every answer."""
        self.close_connection = True
        self.command = self.command or "GET"
        self.request_version = "HTTP/1.1"
        self._json(code, {"error": f"this is no request that the laboratory answers ({message or code})"})

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: a request's line has the token."""
