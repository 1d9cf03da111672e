"""Workers of a Ray cluster: an actor with a warm Blender wherever there is room for one."""

import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mimegen.base.errors import DiskFullError, RequestError
from mimegen.base.files import publish
from mimegen.base.kernel_folder import kernel_folder
from mimegen.farm.executor import Begun, Lost, Message, Unfit, WorkerReport
from mimegen.farm.local import LocalExecutor
from mimegen.farm.raywaits import Wait
from mimegen.farm.remote import (
    FolderProbe,
    RemoteWorker,
    WorkerHost,
    WorkerMessage,
    makes_the_same,
    version,
)
from mimegen.farm.settings import FarmSettings
from mimegen.farm.task import Task, task_to_json
from mimegen.groundtruth.job import PassJob
from mimegen.rendering.plain import NONE
from mimegen.shots.devices import Device
from mimegen.shots.jobs import JobDone, JobFailed, Ready, ShotJob
from mimegen.store.makers import note_maker

# Seconds between two searches for machines that have joined.
POLL_INTERVAL_S = 2.0
# The start of Ray's words where no cluster runs.
NO_CLUSTER = "Could not find any running Ray"
ANSWER_S = 20.0  # timeout in seconds for connecting to a cluster
# Seconds until Ray notices a lost machine; it reports the machine's workers as lost before.
NOTICED_S = 3.0
# The --address of a cluster that is started on this machine, and that no other machine can join.
NO_ADDRESS = "none"
# Characters kept of Ray's message about an actor that does not start; its end tells the cause.
WORDS = 300


@dataclass(eq=False)
class _ActorSeat:
    """An actor and its state.

    ``node`` is Ray's id of its machine, ``asked`` the pending call, ``place`` the machine as
    reported by the actor, ``ready`` whether Blender has started, ``plain`` whether it only does
    plain tasks.
    """

    name: str
    node: str
    actor: Any
    asked: Any
    place: WorkerHost | None = None
    ready: bool = False
    cpu: str = ""
    task: Task | None = None
    plain: bool = False

    @property
    def free(self) -> bool:
        """Whether the actor is warm and idle."""
        return self.ready and self.task is None


class RayExecutor:
    """Worker processes on the machines of a Ray cluster; see ``Executor``.

    Machines that join are used; tasks on lost machines are reported as lost. Workers that see the
    store at ``root`` write frames into it; others send them back through Ray. Plain tasks need the
    store: they are done by the same workers, on machines with GPUs by extra workers, and by this
    machine's cores if no other machine sees the store.
    """

    adopted: Sequence[Task] = ()
    kind_of_worker: type[RemoteWorker] = RemoteWorker

    def __init__(self, root: Path, settings: FarmSettings, device: str,
                 say: Callable[[str], None] = lambda text: None) -> None:
        """Connect to the cluster; ``device`` is the kind that all workers render on.

        ``say`` gets a line for users if the cluster has no room. Raises RequestError if Ray is not
        installed or its cluster cannot be reached.
        """
        self._ray = _ray()
        self._root, self._settings, self._device = root.resolve(), settings, device
        self._own = not self._ray.is_initialized()
        if self._own:
            _connect(self._ray, settings.address, say)
        self._probe = _leave_probe(self._root, settings.store_there)
        self._seats: list[_ActorSeat] = []
        self._pending: list[WorkerReport] = []
        self._unfit: set[str] = set()
        self._checked_at = float("-inf")
        needs = worker_needs(settings, device)
        self._cpus, self._gpus = int(needs["CPU"]), needs["GPU"]
        self._wait = Wait(say, self._cpus, self._gpus)
        self._here = LocalExecutor([NONE] * (os.cpu_count() or 1), 1)

    @staticmethod
    def require() -> None:
        """Raise RequestError if Ray is not installed."""
        _ray()

    @property
    def slots(self) -> int:
        """The number of idle warm workers with an engine."""
        return sum(seat.free and not seat.plain for seat in self._seats)

    @property
    def plain_slots(self) -> int:
        """The number of idle workers for plain tasks."""
        if self._runs_plain_here:
            return self._here.plain_slots
        return sum(seat.free for seat in self._seats if self._does_plain(seat))

    def submit(self, task: Task) -> None:
        """Give a task to an idle warm worker."""
        if task.needs_no_engine and self._runs_plain_here:
            self._here.submit(task)
            return
        seat = next(seat for seat in self._seats if seat.free and (
            self._does_plain(seat) if task.needs_no_engine else not seat.plain))
        assert seat.place is not None
        seat.task = task
        content = task_to_json(task, self._root)
        files = {} if seat.place.sees_store else self._read_by(task)
        seat.actor.submit.remote(content, files)
        seat.asked = seat.actor.listen.remote()
        self._pending.append(WorkerReport(seat.name, Begun(), task))

    def events(self, timeout: float) -> Iterator[WorkerReport]:
        """Yield the messages that arrive within ``timeout`` seconds.

        Raises RequestError if none of the cluster's machines can render.
        """
        self._start_actors()
        self._report_missing_resources()
        pending, self._pending = [*self._pending, *self._here.events(0)], []
        yield from pending
        asked = {seat.asked: seat for seat in self._seats if seat.asked is not None}
        if not asked:
            time.sleep(0 if pending else timeout)
            return
        answered, _ = self._ray.wait(list(asked), num_returns=len(asked), timeout=0)
        if not answered:
            answered, _ = self._ray.wait(list(asked), timeout=0 if pending else timeout)
        for answer in answered:
            yield from self._receive(asked[answer], answer)

    def abandon(self, task: Task, why: str) -> None:
        """Kill the actor that has a task."""
        self._here.abandon(task, why)
        for seat in [seat for seat in self._seats if seat.task is task]:
            self._remove(seat)
            self._pending.append(WorkerReport(seat.name, Lost(why), task))

    def close(self) -> None:
        """Kill all actors and disconnect from the cluster."""
        self._here.close()
        for seat in list(self._seats):
            self._remove(seat)
        (self._root / self._probe.name).unlink(missing_ok=True)
        if self._own:
            self._ray.shutdown()

    @property
    def _runs_plain_here(self) -> bool:
        """Whether plain tasks run on this machine, because no worker for them sees the store."""
        return any(seat.ready for seat in self._seats) and not any(
            self._does_plain(seat) for seat in self._seats)

    def _does_plain(self, seat: _ActorSeat) -> bool:
        """Return whether a worker does plain tasks; with GPUs, dedicated workers do them."""
        return seat.plain == (self._gpus > 0) and seat.place is not None and seat.place.sees_store

    def _receive(self, seat: _ActorSeat, answer: Any) -> Iterator[WorkerReport]:
        """Yield the messages in an actor's answer, and poll the actor again."""
        try:
            value = self._ray.get(answer)
        except self._ray.exceptions.RayError as problem:
            yield from self._lost(seat, problem)
            return
        seat.asked = None
        if isinstance(value, WorkerHost):
            yield from self._arrived(seat, value)
            return
        for event in value:
            yield from self._understand(seat, event)
        if seat in self._seats and (seat.task is not None or not seat.ready):
            seat.asked = seat.actor.listen.remote()

    def _arrived(self, seat: _ActorSeat, place: WorkerHost) -> Iterator[WorkerReport]:
        """Record where an actor runs; exclude it if its code would make different frames."""
        seat.place, seat.name = place, f"{place.host} worker {self._seats.index(seat) + 1}"
        if not makes_the_same(place.version, version()):
            yield from self._leave_out(seat, f"has mimegen {place.version}, here is {version()}")
        else:
            seat.asked = seat.actor.listen.remote()

    def _understand(self, seat: _ActorSeat, event: WorkerMessage) -> Iterator[WorkerReport]:
        """Yield what a message means; an actor that fails before it is ready is excluded."""
        message: Message = event.message
        if isinstance(message, JobFailed | Lost) and not seat.ready:
            why = message.message if isinstance(message, JobFailed) else message.why
            yield from self._leave_out(seat, why)
            return
        if event.file is not None:
            message = self._taken_in(seat, event)
        if isinstance(message, Ready):
            seat.ready, seat.cpu = True, message.cpu
        yield WorkerReport(seat.name, message, seat.task)
        if isinstance(message, JobDone | JobFailed | Lost):
            seat.task = None
            if isinstance(message, Lost):
                self._remove(seat)

    def _taken_in(self, seat: _ActorSeat, event: WorkerMessage) -> Message:
        """Publish the file that came back with a message, as a worker that sees the store does.

        Returns the message, or ``Lost`` if the store's folder has become unavailable.
        """
        assert event.file is not None, "it was looked up"
        place, data = event.file
        path, job = self._root / place, seat.task.job if seat.task else None
        try:
            if isinstance(job, ShotJob) and not isinstance(job, PassJob):
                note_maker(path.parent, seat.cpu)
            publish(path, data, makes_folder=False)
        except DiskFullError:
            raise
        except RequestError as problem:
            return Lost(str(problem), blameless=True)
        return event.message

    def _leave_out(self, seat: _ActorSeat, why: str) -> Iterator[WorkerReport]:
        self._unfit.add(seat.node)
        self._remove(seat)
        if not self._places() and all(other.plain for other in self._seats):
            raise RequestError(f"none of the cluster's machines can render: {why}")
        yield WorkerReport(seat.name, Unfit(f"{self._host(seat)} is left out: {why}"))

    def _host(self, seat: _ActorSeat) -> str:
        """Return the host name of an actor's machine, even if the actor has not reported it."""
        hosts = {node["NodeID"]: node["NodeManagerHostname"] for node in self._ray.nodes()}
        return seat.place.host if seat.place else hosts[seat.node]

    def _lost(self, seat: _ActorSeat, problem: Exception) -> Iterator[WorkerReport]:
        """Report a lost task; exclude a machine that is still there but starts no actor."""
        self._checked_at = float("-inf")
        if seat.place is None and self._stays(seat.node):
            words = " ".join(str(problem).split())
            yield from self._leave_out(seat, f"no worker starts there: ...{words[-WORDS:]}")
            return
        task = seat.task
        self._remove(seat)
        if task is not None:
            preempted = getattr(problem, "preempted", False)
            lost = Lost(f"the worker on {self._host(seat)} was lost ({type(problem).__name__})",
                        blameless=bool(preempted) or not self._stays(seat.node))
            yield WorkerReport(seat.name, lost, task)

    def _stays(self, node: str) -> bool:
        """Return whether a machine is still there after Ray has had time to notice its loss."""
        until = time.monotonic() + NOTICED_S
        while node in self._nodes():
            if time.monotonic() > until:
                return True
            time.sleep(0.2)
        return False

    def _remove(self, seat: _ActorSeat) -> None:
        self._seats.remove(seat)
        self._ray.kill(seat.actor)

    def _start_actors(self) -> None:
        """Start an actor wherever a machine has room for one more."""
        if time.monotonic() - self._checked_at < POLL_INTERVAL_S:
            return
        self._checked_at = time.monotonic()
        most = self._settings.workers
        for node, plain in self._places():
            if most is None or sum(seat.plain == plain for seat in self._seats) < most:
                self._start_on(node, plain)

    def _report_missing_resources(self) -> None:
        """Tell the user, while no actor has started, what the cluster lacks.

        Raises RequestError if that is a cluster of this machine alone, which no other can join.
        """
        if any(seat.place is not None for seat in self._seats):
            self._wait.is_over()
        elif self._seats:
            self._wait.for_others(time.monotonic(), self._ray.available_resources(),
                                  self._ray.cluster_resources())
        else:
            machines = {node["NodeManagerHostname"]: node["Resources"]
                        for node in self._ray.nodes() if node["Alive"]}
            if self._settings.address == NO_ADDRESS:
                raise RequestError(self._wait.lacking(machines))
            self._wait.for_machines(time.monotonic(), machines)

    def _places(self) -> list[tuple[str, bool]]:
        """Return (machine, for plain tasks) once for each actor that there is still room for."""
        places: list[tuple[str, bool]] = []
        for node, resources in self._nodes().items():
            if node not in self._unfit:
                there = [seat.plain for seat in self._seats if seat.node == node]
                fitting = _fitting(resources, self._cpus, self._gpus)
                beside = int(resources.get("CPU", 0.0) - fitting * self._cpus)
                places += [(node, False)] * (fitting - there.count(False))
                if self._gpus > 0:
                    places += [(node, True)] * (min(fitting, beside) - there.count(True))
        return places

    def _nodes(self) -> dict[str, dict[str, float]]:
        return {node["NodeID"]: node["Resources"] for node in self._ray.nodes() if node["Alive"]}

    def _start_on(self, node: str, plain: bool) -> None:
        """Start an actor on a machine."""
        strategy = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node, False)
        needs = {"num_cpus": 1} if plain else {"num_cpus": self._cpus, "num_gpus": self._gpus}
        kind = self._ray.remote(**needs)
        actor = kind(self.kind_of_worker).options(scheduling_strategy=strategy).remote(
            self._probe, self._settings.shared_store, NONE if plain else self._device,
            self._cpus if self._device == "cpu" else 0, node, kernel_folder())
        self._seats.append(_ActorSeat(node, node, actor, actor.place.remote(), plain=plain))

    def _read_by(self, task: Task) -> dict[str, bytes]:
        """Return the content of the files that a task reads, by path in the store."""
        if not isinstance(task.job, ShotJob):
            return {}
        paths = {path for files in task.job.figures
                 for path in (files.character, files.performance)}
        paths |= {task.job.world} if task.job.world else set()
        return {path.relative_to(self._root).as_posix(): path.read_bytes()
                for path in sorted(paths)}


def worker_needs(settings: FarmSettings, device: str) -> dict[str, float]:
    """Return the CPUs and GPUs that each worker asks Ray for."""
    gpus = settings.gpus_per_task
    return {"CPU": settings.cpus_per_task or 1,
            "GPU": float(not Device(device, 1).by_core) if gpus is None else gpus}


def _ray() -> Any:
    """Return the package Ray. Raises RequestError if it is not installed."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.util.scheduling_strategies
    except ImportError:
        raise RequestError("--farm ray needs Ray: pip install 'mimegen[ray]'") from None
    return ray


def _connect(ray: Any, address: str, say: Callable[[str], None]) -> None:
    """Connect to a cluster or start one. Raises RequestError if none can be reached."""
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    try:
        if address == NO_ADDRESS:
            ray.init(address="local", include_dashboard=False, **quiet)
        elif address == "auto":
            _connect_or_start(ray, quiet, say)
        else:
            _see_that_it_answers(address)
            ray.init(address=address, **quiet)
    except (ImportError, OSError, ValueError, RuntimeError) as problem:
        raise RequestError(f"--address {address}: no Ray cluster answers"
                           f" ({' '.join(str(problem).split())[:200]})") from problem


def _see_that_it_answers(address: str) -> None:
    """Raise OSError if nothing answers; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host, int(port)), timeout=ANSWER_S).close()


def _connect_or_start(ray: Any, quiet: dict[str, Any], say: Callable[[str], None]) -> None:
    """Connect to the running cluster; if there is none, or it refuses, start one here."""
    try:
        ray.init(address="auto", **quiet)
    except ConnectionError as problem:
        if NO_CLUSTER not in str(problem):
            say("a Ray cluster seems to run but cannot be joined, so this machine works alone"
                f" ({' '.join(str(problem).split())[:200]}); does the cluster need a token,"
                " RAY_AUTH_TOKEN?")
        ray.init(address="local", include_dashboard=False, **quiet)


def _leave_probe(root: Path, there: Path | None) -> FolderProbe:
    probe = FolderProbe(there or root, f".probe-{secrets.token_hex(8)}", secrets.token_hex(16))
    publish(root / probe.name, probe.token)
    return probe


def _fitting(resources: dict[str, float], cpus: float, gpus: float) -> int:
    """Return how many workers fit on a machine."""
    by_cpu = resources.get("CPU", 0.0) / cpus
    return int(min(by_cpu, resources.get("GPU", 0.0) / gpus) if gpus else by_cpu)
