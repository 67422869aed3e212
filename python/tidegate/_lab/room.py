"""Room for so many connections at a time; those that only wait give way to others."""

from __future__ import annotations

import contextlib
import socket
import threading
import time

#: Seconds after which a connection that only waits may be ended for another, and for which that one waits.
_IDLE_S = 2.0
_EVICTED_S = 0.5
_BODY = b'{"error":"too many connections to the laboratory; try again in a moment"}'
_BUSY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_BODY), _BODY)
)


class Room:
    """A count of connections, and since when each that is not worked on has waited."""

    def __init__(self, count: int) -> None:
        self._free = threading.BoundedSemaphore(count)
        self._waiting: dict[socket.socket, float] = {}

    def enter(self) -> bool:
        """Take a place, where need be that of a connection that only waits; whether there was one."""
        if self._free.acquire(blocking=False):
            return True
        return self._evict() and self._free.acquire(timeout=_EVICTED_S)

    def leave(self, connection: socket.socket) -> None:
        """Give a place back."""
        self._waiting.pop(connection, None)
        self._free.release()

    def waits(self, connection: socket.socket) -> None:
        """Note that a connection waits for a request, or sends one."""
        self._waiting[connection] = time.monotonic()

    def works(self, connection: socket.socket) -> None:
        """Note that what a connection asked for is worked on."""
        self._waiting.pop(connection, None)

    def _evict(self) -> bool:
        """End the connection that has waited longest; whether there is one."""
        # Other threads come and go meanwhile: then there will be room in a moment anyway.
        with contextlib.suppress(ValueError, KeyError, OSError, RuntimeError):
            oldest = min(self._waiting, key=self._waiting.__getitem__)
            if time.monotonic() - self._waiting[oldest] > _IDLE_S:
                self._waiting.pop(oldest, None)
                oldest.shutdown(socket.SHUT_RDWR)
                return True
        return False


def refuse(connection: socket.socket) -> None:
    """Tell a connection that there is no room."""
    with contextlib.suppress(OSError):
        connection.settimeout(_EVICTED_S)
        connection.sendall(_BUSY)
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1 << 16)
