"""Workers and machines of a Ray cluster that join, fail or go; Ray is replaced."""

from pathlib import Path
from typing import Any

import pytest

from mimegen.base.errors import DiskFullError, RequestError
from mimegen.farm import ray as farm_ray
from mimegen.farm.executor import Begun, Lost, Unfit, WorkerReport
from mimegen.farm.remote import WorkerMessage, version
from mimegen.shots.jobs import JobFailed
from pretended_ray import (
    FRAME,
    READY,
    Clock,
    Here,
    Open,
    PretendedRay,
    PretendedRayError,
    heard,
    messages,
    shot,
    warm,
)

pytest_plugins = ["ray_fixtures"]


def test_a_frame_that_comes_while_the_store_is_away_is_lost_and_nobody_is_to_blame(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    executor = opened()
    actor, = warm(executor, ray, sees_store=False)
    task = shot(store)
    executor.submit(task)
    actor.say(WorkerMessage(FRAME, ("shots/s/000001.npz", b"frame")), FRAME)
    lost = heard(executor, 2)[1]
    assert lost.task is task and isinstance(lost.message, Lost) and lost.message.blameless
    assert "shots/s" in lost.message.why and not (store / "shots").exists()
    assert not actor.alive and executor.slots == 0


def test_a_full_disk_is_no_fault_of_a_worker(
    ray: PretendedRay, opened: Open, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*given: Any, **named: Any) -> None:
        raise DiskFullError("no space left")

    executor = opened()
    actor, = warm(executor, ray, sees_store=False)
    executor.submit(shot(store))
    (store / "shots" / "s").mkdir(parents=True)
    monkeypatch.setattr(farm_ray, "publish", full)
    actor.say(WorkerMessage(FRAME, ("shots/s/000001.npz", b"frame")))
    with pytest.raises(DiskFullError):
        heard(executor, 2)


@pytest.mark.parametrize(("gone", "preempted", "blameless"), [
    (False, False, False), (True, False, True), (False, True, True)])
def test_the_task_of_a_lost_worker_is_told_and_another_started(
    ray: PretendedRay, opened: Open, store: Path, clock: Clock, gone: bool, preempted: bool,
    blameless: bool
) -> None:
    ray.machines["n2"] = {"CPU": 1.0}
    executor = opened(workers=1)
    warm(executor, ray)
    task = shot(store)
    executor.submit(task)
    if gone:
        ray.dead = {"n1"}
    problem = PretendedRayError("the actor died")
    problem.preempted = preempted
    ray.actors[0].answer(problem)
    said = heard(executor, 2)[1]
    assert said.task is task and said.worker == "far worker 1"
    assert said.message == Lost("the worker on far was lost (PretendedRayError)", blameless)
    assert not ray.actors[0].alive
    waited = sum(clock.slept)
    assert (waited > 3.0) == (not gone and not preempted) and waited < 3.5
    heard(executor)
    assert [actor.node for actor in ray.alive] == ["n2" if gone else "n1"], "at once"


def test_a_worker_that_is_lost_without_a_task_is_replaced(ray: PretendedRay, opened: Open) -> None:
    executor = opened()
    heard(executor)
    ray.actors[0].arrive()
    heard(executor)
    ray.actors[0].answer(PretendedRayError("gone"))
    assert heard(executor, 2) == [] and len(ray.actors) == 2 and len(ray.alive) == 1


def test_a_machine_where_no_worker_starts_is_left_out_with_rays_words(
    ray: PretendedRay, opened: Open
) -> None:
    """Such as one on which mimegen is not installed: it would be tried for ever."""
    ray.machines["n2"] = {"CPU": 1.0}
    executor = opened()
    heard(executor)
    words = f"{400 * 'x'} ModuleNotFoundError:\n   No module named 'mimegen'"
    ray.actors[0].answer(PretendedRayError(words))
    said, = heard(executor, 3)
    assert said.worker == "n1" and said.task is None and isinstance(said.message, Unfit)
    assert said.message.why.startswith("host of n1 is left out: no worker starts there: ...xxx")
    assert said.message.why.endswith("x ModuleNotFoundError: No module named 'mimegen'")
    assert len(said.message.why) < 400 and [actor.node for actor in ray.actors] == ["n1", "n2"]
    ray.actors[1].answer(PretendedRayError(words))
    with pytest.raises(RequestError, match=r"none of the cluster's machines can render: .*mimegen"):
        heard(executor)


def test_a_machine_that_goes_before_its_worker_starts_is_not_left_out(
    ray: PretendedRay, opened: Open, clock: Clock
) -> None:
    executor = opened()
    heard(executor)
    ray.dead = {"n1"}
    ray.actors[0].answer(PretendedRayError("gone"))
    assert heard(executor, 2) == []
    ray.dead = set()
    clock.now += 2.0
    warm(executor, ray)
    assert executor.slots == 1


def test_a_machine_with_another_version_is_left_out(ray: PretendedRay, opened: Open) -> None:
    ray.machines["n2"] = {"CPU": 1.0}
    executor = opened()
    heard(executor)
    ray.actors[0].arrive("old", version="0.0.9 abc")
    said, = heard(executor)
    assert said.message == Unfit(f"old is left out: has mimegen 0.0.9 abc, here is {version()}")
    assert not ray.actors[0].alive and len(ray.alive) == 1
    ray.actors[1].arrive("older", version="0.0.8 abc")
    with pytest.raises(RequestError, match="none of the cluster's machines can render: has mimeg"):
        heard(executor)


@pytest.mark.parametrize("message", [JobFailed("out of memory, says the driver"),
                                     Lost("out of memory, says the driver")])
def test_a_device_that_does_not_start_leaves_its_machine_out(
    ray: PretendedRay, opened: Open, clock: Clock, message: JobFailed | Lost
) -> None:
    ray.machines = {name: {"CPU": 1.0, "GPU": 1.0} for name in ("n1", "n2")}
    executor = opened("cuda")
    heard(executor)
    for actor in ray.actors:
        actor.arrive(actor.node)
    heard(executor)
    ray.actors[0].say(message)
    ray.actors[1].say(READY)
    unfit, ready = messages(executor)
    assert unfit == Unfit("n1 is left out: out of memory, says the driver") and ready == READY
    assert executor.slots == 1
    clock.now += 10
    heard(executor)
    assert len(ray.actors) == 2, "it is not tried again"


def test_a_worker_whose_blender_died_is_replaced(
    ray: PretendedRay, opened: Open, store: Path, clock: Clock
) -> None:
    executor = opened()
    actor, = warm(executor, ray)
    task = shot(store)
    executor.submit(task)
    actor.say(Lost("its process died"))
    assert heard(executor, 2)[1] == WorkerReport("far worker 1", Lost("its process died"), task)
    assert not actor.alive and not actor.waiting
    clock.now += 2.0
    heard(executor)
    assert len(ray.alive) == 1


def test_machines_that_join_are_looked_for_every_two_seconds(
    ray: PretendedRay, opened: Open, clock: Clock
) -> None:
    executor = opened()
    heard(executor)
    ray.machines["n2"] = {"CPU": 1.0}
    clock.now += 1.9
    heard(executor)
    assert len(ray.actors) == 1
    clock.now += 0.1
    heard(executor)
    assert [actor.node for actor in ray.actors] == ["n1", "n2"]


def test_the_worker_of_an_abandoned_task_is_killed(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    ray.machines = {"n1": {"CPU": 2.0}}
    executor = opened()
    warm(executor, ray)
    hanging, other = shot(store, name="a"), shot(store, name="b")
    executor.submit(hanging)
    executor.submit(other)
    heard(executor)
    executor.abandon(hanging, "nothing was heard")
    assert heard(executor) == [WorkerReport("far worker 1", Lost("nothing was heard"), hanging)]
    assert [actor.alive for actor in ray.actors[:2]] == [False, True]
    assert Here.made[0].abandoned == [(hanging, "nothing was heard")]


def test_who_has_nobody_to_listen_to_tells_at_once_what_is_known(
    ray: PretendedRay, opened: Open, store: Path, clock: Clock
) -> None:
    executor = opened()
    warm(executor, ray)
    executor.submit(task := shot(store))
    executor.abandon(task, "it hangs")
    clock.slept.clear()
    assert messages(executor) == [Begun(), Lost("it hangs")] and clock.slept == [0]


def test_closing_ends_all_and_leaves_a_cluster_that_was_joined(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    ray.machines = {"n1": {"CPU": 3.0}}
    executor = opened(address="none")
    heard(executor)
    assert ray.connected and list(store.glob(".probe-*"))
    executor.close()
    assert not ray.connected and not ray.alive and Here.made[0].closed
    assert not list(store.glob(".probe-*"))
    executor.close()
    ray.connected = True
    opened().close()
    assert ray.connected and len(ray.joined) == 1, "somebody else's"
