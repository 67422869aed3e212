"""Starting the laboratory."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from tidegate._base.nearest import nearest
from tidegate._lab.files import gallery
from tidegate._lab.guard import LOOPBACK, Guard
from tidegate._lab.limits import Limits
from tidegate._lab.pool import Pool
from tidegate._lab.server import Laboratory
from tidegate.errors import ArgumentError, UnknownNameError

#: The token that is taken instead of a new one, so that a page that is open stays valid when the server is
#: started again. Whoever knows it can use the laboratory.
TOKEN = "TIDEGATE_LAB_TOKEN"


@dataclass
class Opened:
    """A server that listens: its address, and how it is run and ended."""

    server: Laboratory
    address: str
    #: Others in the network can reach it.
    public: bool

    def serve(self) -> None:
        """Answer until the program is interrupted."""
        try:
            self.server.serve_forever(poll_interval=0.2)
        finally:
            self.close()

    def close(self) -> None:
        """End the server and its processes."""
        self.server.server_close()
        self.server.pool.close()
        if self.server.live is not None:
            self.server.live.close()


def open_laboratory(
    source: Path | None = None, *, host: str = "127.0.0.1", port: int = 0, limits: Limits | None = None
) -> Opened:
    """Listen at an address of this machine; port 0 is any that is free.

    ``source``: a scenario to begin with, or the folder in which scenarios and traces lie; left out, the
    working folder.

    Raises:
        ArgumentError: the address or the token cannot be used.
        OSError: the port is taken, or there is no such file.
    """
    limits = limits or Limits()
    folder, file = place_of(source)
    token = os.environ.get(TOKEN) or secrets.token_urlsafe(18)
    if (
        not 16 <= len(token) <= 200
        or not token.replace("-", "").replace("_", "").isalnum()
        or not token.isascii()
    ):
        raise ArgumentError(f"{TOKEN}: 16 to 200 letters, digits, - and _ are a token")
    public = host not in ("127.0.0.1", "localhost")
    guard = Guard(token, frozenset(), limits)
    pool = Pool(limits)
    try:
        server = Laboratory((host, port), guard, pool, folder.resolve(), file)
    except BaseException:
        pool.close()
        raise
    real = server.server_address[1]
    names = {*LOOPBACK, host.lower()} if not public else {host.lower()}
    if host in ("0.0.0.0", "::"):
        import socket

        names = {*LOOPBACK, socket.gethostname().lower(), *_addresses()}
    hosts = frozenset(f"{name}:{real}" for name in names)
    server.guard = Guard(token, hosts, limits)
    if public:
        server.live = None
    shown = "127.0.0.1" if host in ("localhost", "0.0.0.0") else host
    return Opened(server, f"http://{shown}:{real}/{token}/", public)


def place_of(source: Path | None) -> tuple[Path, str | None]:
    """Return the folder of a scenario and its name there; of a folder, or of none, no name.

    Raises:
        ArgumentError: it is no scenario in TOML.
        OSError: there is no such file.
    """
    if source is None or source.is_dir():
        return source or Path(), None
    if not source.is_file():
        raise FileNotFoundError(2, "no such file", str(source))
    if not source.name.endswith(".toml"):
        raise ArgumentError(f"{source}: the laboratory opens scenarios in TOML, with names that end in .toml")
    return source.parent, source.name


def example_place(name: str) -> str:
    """Return what stands behind the page's address to begin with an example.

    Raises:
        UnknownNameError: there is none of this name.
    """
    known = [each["name"] for each in gallery()]
    if name not in known:
        raise UnknownNameError(nearest("example", name, known))
    return f"#e={name}"


def _addresses() -> list[str]:
    """Return this machine's addresses in the network, as far as its name tells them."""
    import socket

    try:
        found = socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
    except OSError:
        return []
    return sorted({str(each[4][0]) for each in found})
