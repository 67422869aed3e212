"""Which workers an executor makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidegate._base.errors import ArgumentError

if TYPE_CHECKING:
    from tidegate._study.workers import Workers


def elsewhere(executor: Any) -> Workers:
    """Return the workers that an executor makes: a client of Dask, or anything that takes functions.

    Raises:
        ArgumentError: it is neither, or a worker of the cluster has another build of Tidegate.
        ClusterError: the scheduler is lost.
    """
    if type(executor).__module__.partition(".")[0] == "distributed":
        from tidegate._study.cluster import Cluster

        return Cluster(executor)
    if not callable(getattr(executor, "submit", None)):
        raise ArgumentError(
            f"executor: {executor!r} has no submit; give a client of Dask, or one with the interface of "
            "concurrent.futures.Executor"
        )
    from tidegate._study.futures import Futures

    return Futures(executor)
