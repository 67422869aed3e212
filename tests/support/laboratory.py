"""A laboratory for tests: a server in this process, asked as a page asks it."""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from tidegate._lab.start import open_laboratory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tidegate._lab.limits import Limits
    from tidegate._lab.start import Opened

#: The token of laboratories that tests start.
TOKEN = "a-token-for-tests-0123456789"


@dataclass
class Running:
    """A server that answers."""

    opened: Opened
    port: int

    @property
    def address(self) -> str:
        return self.opened.address


@contextmanager
def running(source: Path, *, port: int = 0, limits: Limits | None = None) -> Iterator[Running]:
    """Serve a folder or a scenario."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEGATE_LAB_TOKEN", TOKEN)
        opened = open_laboratory(source, port=port, limits=limits)
    thread = threading.Thread(target=opened.serve, daemon=True)
    thread.start()
    try:
        yield Running(opened, opened.server.server_address[1])
    finally:
        opened.server.shutdown()
        thread.join(20)


def ask(
    lab: Running,
    method: str,
    path: str,
    body: Any = None,
    *,
    headers: dict[str, str] | None = None,
    raw: bytes | None = None,
) -> tuple[int, Any]:
    """Return the status and what the answer says; what is no JSON is returned as bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=60)
    data = raw if raw is not None else None if body is None else json.dumps(body).encode()
    kind = {} if data is None else {"Content-Type": "application/json"}
    try:
        connection.request(method, path, data, {**kind, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read()
        if answer.headers["Content-Type"].startswith("application/json"):
            return answer.status, json.loads(text)
        return answer.status, text
    finally:
        connection.close()
