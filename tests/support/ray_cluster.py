"""A Ray cluster of small pretended machines on this one."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

# Ray gives a machine half a minute to come up, which is no fault of its where others need the
# processors too; a new one is started then.
STARTS = 5
# Whoever has come up is waited for no more.
MACHINE = {"object_store_memory": 100 * 2**20, "wait": False}


@contextmanager
def ray_cluster(cpus: int) -> Iterator[Any]:
    """Lend a cluster whose first machine has so many processors."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    cluster = _at_last(lambda: Cluster(initialize_head=True, head_node_args={
        **MACHINE, "num_cpus": cpus, "include_dashboard": False}))
    try:
        yield cluster
    finally:
        cluster.shutdown()


def add_machine(cluster: Any) -> Any:
    """Add a machine with one processor to a cluster; return it."""
    return _at_last(lambda: cluster.add_node(num_cpus=1, **MACHINE))


def _at_last(start: Callable[[], Any]) -> Any:
    """Return what comes up, at the first attempt that comes up in time."""
    for _ in range(STARTS - 1):
        # Ray says no more of it than an Exception.
        with suppress(Exception):
            return start()
    return start()
