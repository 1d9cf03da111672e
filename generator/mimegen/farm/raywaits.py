"""Messages to the user while a Ray cluster has no room for any worker."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

# Seconds until the user is told that a cluster has no room, and between repetitions.
FIRST_S = 20.0
AGAIN_S = 300.0


@dataclass
class Wait:
    """Reports what is waited for: ``cpus`` and ``gpus`` per worker, and what the cluster has.

    It reports at once if no machine is large enough, after a while if others occupy the machines,
    and repeats the message from time to time.
    """

    say: Callable[[str], None]
    cpus: float
    gpus: float
    _since: float | None = None
    _next_at: float = float("-inf")

    def is_over(self) -> None:
        """Note that a worker has found room."""
        self._since, self._next_at = None, float("-inf")

    def for_machines(self, now: float, machines: Mapping[str, Mapping[str, float]]) -> None:
        """Report that none of the ``machines`` (resources by name) is large enough for a worker."""
        self._tell(now, 0.0, f"{_none_has(machines)}, or wait for machines to join")

    def lacking(self, machines: Mapping[str, Mapping[str, float]]) -> str:
        """Return why no worker can start on these machines, for a cluster that no other joins."""
        return f"--farm ray: a worker asks for {self._asked}; {_none_has(machines)}"

    def for_others(self, now: float, free: Mapping[str, float], in_all: Mapping[str, float]
                   ) -> None:
        """Report that machines are large enough, but that others occupy them."""
        self._tell(now, FIRST_S, f"the cluster has {amounts(in_all)}, of which {amounts(free)} are"
                                 " free: other jobs have the rest")

    def _tell(self, now: float, first_s: float, why: str) -> None:
        if self._since is None:
            self._since = now
        if now >= max(self._next_at, self._since + first_s):
            self._next_at = now + AGAIN_S
            self.say(f"waiting for Ray: a worker asks for {self._asked}; {why}")

    @property
    def _asked(self) -> str:
        return amounts({"CPU": self.cpus, "GPU": self.gpus})


def _none_has(machines: Mapping[str, Mapping[str, float]]) -> str:
    there = "; ".join(f"{name} has {amounts(found)}" for name, found in machines.items())
    return (f"no machine of the cluster has that ({there or 'it has none'}); ask for less with"
            " --cpus-per-task and --gpus-per-task")


def amounts(resources: Mapping[str, float]) -> str:
    """Return CPUs and GPUs as text, such as ``4 CPU and 0.5 GPU``."""
    return " and ".join(f"{resources.get(kind, 0.0):g} {kind}" for kind in ("CPU", "GPU"))
