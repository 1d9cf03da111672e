"""A Ray whose machines and actors answer as a test wants, with no process behind them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from mimegen.farm.remote import Place, Said, version
from mimegen.stage.jobs import Ready

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
    said: list[list[Said]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Take calls as Ray's actors do, by ``remote``."""
        self.place = SimpleNamespace(remote=self._call)
        self.listen = SimpleNamespace(remote=self._call)
        self.submit = SimpleNamespace(remote=lambda *given: self.submitted.append(given))

    def arrive(self, host: str = "far", sees_store: bool = True, version: str = version()) -> None:
        """Say where it is."""
        self.answer(Place(host, self.node, sees_store, version))

    def say(self, *messages: Any) -> None:
        """Answer who listens; a message may come with its file."""
        self.answer([one if isinstance(one, Said) else Said(one) for one in messages])

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
    waits: list[tuple[int, float]] = field(default_factory=list)

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

    def wait(self, asked: Sequence[Answer], num_returns: int = 1, timeout: float = 0.0
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
