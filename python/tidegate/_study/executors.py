"""Which workers an executor makes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tidegate.errors import ArgumentError

if TYPE_CHECKING:
    from tidegate._study.workers import Workers


def elsewhere(executor: Any) -> Workers:
    """Return the workers that an executor makes: a client of Dask, or anything that takes functions.

    Raises:
        ArgumentError: it is neither, it is closed, or a worker of the cluster has another build of Tidegate.
        ClusterError: the scheduler is lost.
    """
    # Whoever has a client of Dask has loaded Dask.
    if "distributed" in sys.modules:
        from distributed import Client
        from distributed.cfexecutor import ClientExecutor

        from tidegate._study.cluster import Cluster

        if isinstance(executor, Client):
            return Cluster(executor)
        if isinstance(executor, ClientExecutor):
            if executor._shutdown:
                raise ArgumentError("executor: it was shut down; give one that takes work")
            # What else it was made with, such as the workers that may be used.
            return Cluster(executor._client, **executor._kwargs)
    if not callable(getattr(executor, "submit", None)):
        raise ArgumentError(
            f"executor: {executor!r} has no submit; give a client of Dask, or one with the interface of "
            "concurrent.futures.Executor"
        )
    from tidegate._study.futures import Futures

    return Futures(executor)
