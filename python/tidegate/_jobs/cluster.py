"""Workers elsewhere: a cluster of Dask, and which workers an executor makes."""

from __future__ import annotations

import contextlib
import logging
import socket
import sys
import time
import uuid
from typing import TYPE_CHECKING, Any

from tidegate._base.calls import shown
from tidegate._base.progress import tell
from tidegate._jobs.batches import do_batch
from tidegate._jobs.job import engine_identity
from tidegate._jobs.workers import Futures, other_build
from tidegate.errors import ArgumentError, ClusterError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidegate._jobs.batches import Batch, Done
    from tidegate._jobs.workers import Workers

#: How long to wait for a scheduler to answer.
_PATIENCE_S = 10.0
#: How often to ask how many threads the workers have.
_LOOK_S = 2.0
#: How long there may be no worker before that is said: a nanny starts a worker again within this time.
_ALONE_S = 5.0


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """Give a client of the scheduler at an address such as ``tcp://head:8786``.

    Raises:
        ArgumentError: Dask is not installed, or nobody answers there.
    """
    try:
        import distributed
    except ImportError:
        raise ArgumentError(
            "--on: the package distributed is missing; install it with pip install 'tidegate[cluster]'"
        ) from None
    _quiet()
    _answers(address)
    # Made in two steps: a client that was never connected is to be forgotten without waiting for it.
    client: Any = object.__new__(distributed.Client)
    try:
        client.__init__(address, timeout=_PATIENCE_S, set_as_default=False)
    except (OSError, ValueError, TypeError, KeyError) as error:
        client.status = "closed"
        raise _nobody(address, error) from None
    try:
        yield client
    finally:
        # Of a scheduler that is lost nothing is to be said any more.
        with contextlib.suppress(Exception):
            client.close(timeout=2)


def _quiet() -> None:
    """Let Dask write no log: what matters of a scheduler that is lost is said here in one line."""
    for name in ("distributed", "distributed.client", "distributed.core", "tornado", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers = [logging.NullHandler()]
        logger.propagate = False
        logger.setLevel(logging.CRITICAL)


def _answers(address: str) -> None:
    """Refuse an address at which nobody listens.

    Raises:
        ArgumentError: nobody does, or it is none.
    """
    from distributed.comm.addressing import parse_address, parse_host_port

    try:
        scheme, place = parse_address(address)
        if scheme in ("tcp", "tls"):
            with socket.create_connection(parse_host_port(place), timeout=_PATIENCE_S):
                pass
    except (OSError, ValueError) as error:
        raise _nobody(address, error) from None


def _nobody(address: str, error: Exception) -> ArgumentError:
    return ArgumentError(
        f"--on {address}: no scheduler of Dask answers there ({error}); write its address, such as "
        "tcp://head:8786, as dask scheduler prints it"
    )


class Cluster(Futures):
    """The workers that a client of Dask reaches. Its scheduler gives a dead worker's batch to another."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        if client.status != "running":
            raise ArgumentError(
                f"executor: this client of Dask is {client.status}; give one that is connected"
            )
        if client.asynchronous:
            raise ArgumentError(
                "executor: this client of Dask is asynchronous; make it without asynchronous=True"
            )
        self._client = client
        self._address = client.scheduler.address
        self._name = f"tidegate-{uuid.uuid4().hex[:8]}"
        self._sent = 0
        self._threads = 0
        self._looked = float("-inf")
        #: When a worker was there last, and whether it was said since then that there is none.
        self._accompanied = time.monotonic()
        self._warned = False
        for worker, build in self._ask(client.run, engine_identity, on_error="return").items():
            if isinstance(build, BaseException):
                raise _without(worker, build)
            if build != engine_identity():
                raise other_build(worker, build, engine_identity())

    def hands(self) -> int:
        """Return how many threads the workers have; 1 where there is none yet, so that work waits for it."""
        now = time.monotonic()
        if now - self._looked > _LOOK_S:
            self._threads = sum(self._ask(self._client.nthreads).values())
            self._looked = now
            if self._threads:
                self._accompanied, self._warned = now, False
            elif now - self._accompanied >= _ALONE_S and not self._warned:
                self._warned = True
                tell(
                    f"no worker is connected to {self._address}; waiting for one. "
                    "If workers come and leave at once, their log says why"
                )
        return max(1, self._threads)

    def send(self, batch: Batch) -> Any:
        """Give a batch to the scheduler."""
        self._sent += 1
        key = f"{self._name}-{self._sent}"
        sent: Any = self._ask(self._client.submit, do_batch, batch, key=key, pure=False)
        return sent

    def receive(self, future: Any) -> Done:
        """Return what came back.

        Raises:
            ClusterError: the scheduler is lost, or several workers died at the batch.
        """
        if future.cancelled():
            raise self._lost()
        done: Done = self._ask(future.result)
        future.release()
        return done

    def collect(self, patience_s: float) -> list[Any]:
        """Return the outcomes of a batch; none after ``patience_s`` without one.

        Raises:
            ClusterError: the scheduler is lost, or several workers died at the same batch.
        """
        found = super().collect(patience_s)
        if not found and self._waiting and self._client.status != "running":
            raise self._lost()
        return found

    def _ask(self, what: Any, *arguments: Any, **options: Any) -> Any:
        """Ask the cluster something; say in words what it cannot do."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        try:
            return what(*arguments, **options)
        except KilledWorker as error:
            raise ClusterError(
                f"several workers died at one batch, the last one {error.last_worker.address}; their memory "
                "may be too small, and the scheduler's log says more"
            ) from None
        except ImportError as error:
            raise _without("of the cluster", error) from None
        except (CommClosedError, CancelledError, TimeoutError, OSError):
            raise self._lost() from None
        except Exception:
            # A client that was closed meanwhile says it in many ways.
            if self._client.status != "running":
                raise self._lost() from None
            raise

    def _lost(self) -> ClusterError:
        return ClusterError(f"the scheduler {self._address} is lost")

    def close(self) -> None:
        """Take back what waits, and let those that run end for nothing."""
        with contextlib.suppress(Exception):
            if self._client.status == "running":
                self._client.cancel(list(self._waiting), force=True)


def _without(worker: str, error: BaseException) -> ArgumentError:
    return ArgumentError(
        f"worker {worker}: it cannot load Tidegate ({error}); install there the wheel of this process"
    )


def elsewhere(executor: Any) -> Workers:
    """Return the workers that an executor makes: a client of Dask, or anything that takes functions.

    Raises:
        ArgumentError: it is neither, it is closed, or a worker of the cluster has another build of Tidegate.
        ClusterError: the scheduler is lost.
    """
    # Whoever has a client of Dask has loaded Dask.
    if "distributed" in sys.modules:
        from distributed import Client

        # What a client's get_executor gives is an executor like any other.
        if isinstance(executor, Client):
            return Cluster(executor)
    if not callable(getattr(executor, "submit", None)):
        raise ArgumentError(
            f"executor: {shown(executor)} has no submit; give a client of Dask, or one with the interface of "
            "concurrent.futures.Executor"
        )
    return Futures(executor)
