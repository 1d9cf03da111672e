"""A Ray whose machines and actors answer as a test wants, with no process behind them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from mimegen.base.paths import data_folder
from mimegen.compositing.background import Background
from mimegen.compositing.clipjob import ClipJob
from mimegen.farm.executor import WorkerReport
from mimegen.farm.ray import RayExecutor
from mimegen.farm.remote import WorkerHost, WorkerMessage, version
from mimegen.farm.task import Task
from mimegen.shots.camera import Camera
from mimegen.shots.config import read_config
from mimegen.shots.jobs import FigureFiles, FrameDone, Ready, ShotJob

CONFIG = read_config(data_folder() / "render_configs" / "preview.yaml")
CAMERA = Camera((0.0, -9.0, 1.0), (1.0, 0.0, 0.0, 0.0), 50.0, 64, 36)
FRAME = FrameDone(0, 1, 0.5)


READY = Ready("cpu", 1, "5.0.1", "x86_64")


class PretendedRayError(Exception):
    """What Ray raises for an actor that is gone."""

    preempted = False


@dataclass(eq=False)
class Actor:
    """An actor: what it was given, and its answers to the calls that wait for one."""

    node: str
    needs: dict[str, float]
    kind: type
    given: tuple[Any, ...]
    alive: bool = True
    submitted: list[tuple[dict[str, Any], dict[str, bytes]]] = field(default_factory=list)
    waiting: list["Answer"] = field(default_factory=list)
    said: list[list[WorkerMessage]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Take calls as Ray's actors do, by ``remote``."""
        self.place = SimpleNamespace(remote=self._call)
        self.listen = SimpleNamespace(remote=self._call)
        self.submit = SimpleNamespace(remote=lambda *given: self.submitted.append(given))

    def arrive(self, host: str = "far", sees_store: bool = True, version: str = version()) -> None:
        """Say where it is."""
        self.answer(WorkerHost(host, self.node, sees_store, version))

    def say(self, *messages: Any) -> None:
        """Answer who listens; a message may come with its file."""
        self.answer([one if isinstance(one, WorkerMessage) else WorkerMessage(one)
                     for one in messages])

    def answer(self, value: Any) -> None:
        """Answer the call that waits; an error is raised there."""
        one, = self.waiting
        self.waiting.clear()
        one.value = value

    def _call(self) -> "Answer":
        self.waiting.append(Answer(self))
        return self.waiting[-1]


@dataclass(eq=False)
class Answer:
    """What an actor will have said; None as long as it has not."""

    actor: Actor
    value: Any = None


@dataclass
class PretendedRay:
    """The part of Ray's module that an executor asks for."""

    machines: dict[str, dict[str, float]] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    actors: list[Actor] = field(default_factory=list)
    joined: list[dict[str, Any]] = field(default_factory=list)
    refuses: list[Exception] = field(default_factory=list)
    connected: bool = False
    free: dict[str, float] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    waits: list[tuple[int, float | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Have the names that Ray has."""
        self.exceptions = SimpleNamespace(RayError=PretendedRayError)
        self.util = SimpleNamespace(scheduling_strategies=SimpleNamespace(
            NodeAffinitySchedulingStrategy=lambda node, soft: (node, soft)))

    @property
    def alive(self) -> list[Actor]:
        """The actors that were not killed."""
        return [actor for actor in self.actors if actor.alive]

    def is_initialized(self) -> bool:
        return self.connected

    def init(self, **how: Any) -> None:
        self.joined.append(how)
        if self.refuses:
            raise self.refuses.pop(0)
        self.connected = True

    def shutdown(self) -> None:
        self.connected = False

    def nodes(self) -> list[dict[str, Any]]:
        return [{"NodeID": node, "Alive": node not in self.dead, "Resources": resources,
                 "NodeManagerHostname": f"host of {node}"}
                for node, resources in self.machines.items()]

    def cluster_resources(self) -> dict[str, float]:
        return {kind: sum(found.get(kind, 0.0) for node, found in self.machines.items()
                          if node not in self.dead) for kind in ("CPU", "GPU")}

    def available_resources(self) -> dict[str, float]:
        return self.free

    def remote(self, **needs: float) -> Any:
        def of(kind: type) -> Any:
            def options(scheduling_strategy: tuple[str, bool]) -> Any:
                node, soft = scheduling_strategy
                assert not soft, "elsewhere it would take another one's place"

                def remote(*given: Any) -> Actor:
                    self.actors.append(Actor(node, needs, kind, given))
                    return self.actors[-1]

                return SimpleNamespace(remote=remote)

            return SimpleNamespace(options=options)

        return of

    def wait(self, asked: Sequence[Answer], num_returns: int = 1,
             timeout: float | None = None
             ) -> tuple[list[Answer], list[Answer]]:
        self.waits.append((num_returns, timeout))
        ready = [one for one in asked if one.value is not None][:num_returns]
        return ready, [one for one in asked if one not in ready]

    def get(self, answer: Answer) -> Any:
        if isinstance(answer.value, Exception):
            raise answer.value
        return answer.value

    def kill(self, actor: Actor) -> None:
        actor.alive = False


class Clock:
    """Stands still until it is told, or until somebody sleeps."""

    def __init__(self) -> None:
        self.now, self.slept = 100.0, list[float]()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Here:
    """This machine's own workers: takes tasks, says what it is told to."""

    made: ClassVar[list["Here"]] = []

    def __init__(self, devices: list[str], threads: int) -> None:
        self.devices, self.threads, self.plain_slots = devices, threads, 7
        self.submitted: list[Task] = []
        self.abandoned: list[tuple[Task, str]] = []
        self.says: list[WorkerReport] = []
        self.closed = False
        type(self).made.append(self)

    def submit(self, task: Task) -> None:
        self.submitted.append(task)

    def events(self, timeout: float) -> Iterator[WorkerReport]:
        assert timeout == 0
        said, self.says = self.says, []
        yield from said

    def abandon(self, task: Task, why: str) -> None:
        self.abandoned.append((task, why))

    def close(self) -> None:
        self.closed = True


Open = Callable[..., RayExecutor]


def shot(root: Path, kind: type[ShotJob] = ShotJob, name: str = "s") -> Task:
    files = FigureFiles(root / "characters" / "c.npz", root / "performances" / "p.npz")
    return Task(kind((files,), (CAMERA,), CONFIG, (root / "shots" / name,), np.ones((2, 1), bool)),
                f"shot {name}")


def clip(root: Path) -> Task:
    white = Background(name="white", description="white", licence="CC0", author="", source="",
                       color=(1.0, 1.0, 1.0))
    return Task(ClipJob(root / "shots", (0,), 1.0, white, CAMERA, None, 24.0, root / "clip"),
                "clip")


def heard(executor: RayExecutor, rounds: int = 1) -> list[WorkerReport]:
    return [one for _ in range(rounds) for one in executor.events(0.25)]


def messages(executor: RayExecutor, rounds: int = 1) -> list[Any]:
    return [one.message for one in heard(executor, rounds)]


def warm(executor: RayExecutor, ray: PretendedRay, **place: Any) -> list[Actor]:
    """Start actors on all machines, and see that they are ready; return them."""
    heard(executor)
    fresh = [actor for actor in ray.alive if actor.waiting and not actor.said]
    for actor in fresh:
        actor.arrive(**place)
    heard(executor)
    for actor in fresh:
        actor.say(READY)
    heard(executor)
    return fresh
