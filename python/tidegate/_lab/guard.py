"""Who may ask: the checks that every request passes before anything else is looked at.

The page is for whoever has its address, which holds a token. Another site open in the same browser can send
requests to this machine too: it knows no token, its Origin is another one, and where it has made a name of
its own point here (DNS rebinding) the Host is not one of ours.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import unquote, urlsplit

from tidegate._lab.limits import Limits, RefusedError


class Headers(Protocol):
    """The headers of a request: case does not count in their names."""

    def get(self, name: str, /) -> str | None:
        """Return one of them."""

    def get_all(self, name: str, /) -> list[str] | None:
        """Return every one of this name."""


#: Names of this machine to itself.
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Guard:
    """The token, and the names under which the server is reached: ``host:port``."""

    token: str
    hosts: frozenset[str]
    limits: Limits

    def path(self, target: str, headers: Headers) -> str:
        """Return what is asked for, without the token.

        Raises:
            RefusedError: the request is not from the page.
        """
        for name in ("Host", "Origin"):
            if len(headers.get_all(name) or []) > 1:
                # RFC 9112 §3.2 for Host; which of two would count differs from reader to reader.
                raise RefusedError(400, f"the request has {name} twice")
        host = (headers.get("Host") or "").lower()
        if host not in self.hosts:
            raise RefusedError(
                421, f'this server is not called "{host}"; open the address that tidegate lab printed'
            )
        origin = headers.get("Origin")
        if origin is not None and origin.lower() != f"http://{host}":
            raise RefusedError(403, f'a page of "{origin}" asks; only the laboratory\'s own page may')
        if (headers.get("Sec-Fetch-Site") or "none") not in ("none", "same-origin"):
            raise RefusedError(403, "another site's page asks; only the laboratory's own page may")
        # The host in a target counts before the header (RFC 9112 §3.2.2).
        named = urlsplit(target).netloc.lower()
        if named and named not in self.hosts:
            raise RefusedError(421, f'this server is not called "{named[:80]}"')
        path = unquote(urlsplit(target).path)
        _, first, *rest = [*path.split("/", 2), ""]
        if not hmac.compare_digest(first.encode(), self.token.encode()):
            raise RefusedError(
                403, "the address has no token or an old one; open the one that tidegate lab printed"
            )
        return rest[0] if path.count("/") > 1 else "?"

    def size(self, headers: Headers) -> int:
        """Return how many bytes of a body are to be read.

        Raises:
            RefusedError: their number is not known or too large, or they are no JSON.
        """
        if headers.get("Transfer-Encoding") is not None:
            raise RefusedError(411, "say how long the request is (Content-Length), do not send it in chunks")
        length = headers.get("Content-Length") or ""
        if not (length.isascii() and length.isdigit()):
            raise RefusedError(411, "say how long the request is (Content-Length)")
        if len(length) > 15 or int(length) > self.limits.body:
            raise RefusedError(
                413,
                f"the request has {length[:20]} bytes; a scenario with {self.limits.body} bytes is the "
                "largest",
            )
        if (headers.get("Content-Type") or "").split(";")[0].strip() != "application/json":
            raise RefusedError(415, "the request is not JSON (Content-Type: application/json)")
        return int(length)
