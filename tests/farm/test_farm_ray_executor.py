"""What a driver makes of a Ray cluster's answers; Ray is replaced, so that it need not be there."""

import os
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mimegen.base.errors import RequestError
from mimegen.base.kernel_folder import kernel_folder
from mimegen.farm.executor import Begun, WorkerReport
from mimegen.farm.ray import RayExecutor, _fitting
from mimegen.farm.remote import RemoteWorker, WorkerMessage
from mimegen.farm.settings import FarmSettings
from mimegen.farm.task import Task, task_to_json
from mimegen.groundtruth.job import PassJob
from mimegen.shots.jobs import JobDone, JobFailed, ShotJob
from mimegen.store.makers import makers
from pretended_ray import (
    CONFIG,
    FRAME,
    READY,
    Clock,
    Here,
    Open,
    PretendedRay,
    clip,
    heard,
    messages,
    shot,
    warm,
)

pytest_plugins = ["ray_fixtures"]


def test_an_actor_is_started_wherever_there_is_place(
    ray: PretendedRay, opened: Open, store: Path, clock: Clock
) -> None:
    ray.machines = {"n1": {"CPU": 5.0}, "n2": {"CPU": 2.0}, "off": {"CPU": 8.0}, "bare": {}}
    ray.dead = {"off"}
    executor = opened(cpus_per_task=2, shared_store=True)
    assert not ray.actors and heard(executor) == []
    assert [actor.node for actor in ray.actors] == ["n1", "n1", "n2"]
    actor = ray.actors[2]
    assert actor.needs == {"num_cpus": 2, "num_gpus": 0} and actor.kind is RemoteWorker
    probe, *others = actor.given
    assert others == [True, "cpu", 2, "n2", kernel_folder()]
    assert probe.root == store and (store / probe.name).read_text() == probe.token
    assert len(probe.token) == 32
    heard(executor, 3)
    assert len(ray.actors) == 3, "they are on their way"


@pytest.mark.parametrize(("device", "settings", "needs", "threads"), [
    ("cpu", {}, {"num_cpus": 1, "num_gpus": 0.0}, 1),
    ("optix", {}, {"num_cpus": 1, "num_gpus": 1.0}, 0),
    ("cuda", {"gpus_per_task": 0.5, "cpus_per_task": 3}, {"num_cpus": 3, "num_gpus": 0.5}, 0),
    ("opengl", {"gpus_per_task": 0}, {"num_cpus": 1, "num_gpus": 0.0}, 0),
    ("opengl", {}, {"num_cpus": 1, "num_gpus": 0.0}, 0),
])
def test_an_actor_takes_what_was_asked_for(
    ray: PretendedRay, opened: Open, device: str, settings: dict[str, Any],
    needs: dict[str, float], threads: int
) -> None:
    ray.machines = {"n1": {"CPU": 3.0, "GPU": 0.5 if "gpus_per_task" in settings else 1.0}}
    heard(opened(device, **settings))
    assert ray.actors[0].needs == needs and ray.actors[0].given[2:4] == (device, threads)


def test_there_are_no_more_actors_than_were_wanted(ray: PretendedRay, opened: Open) -> None:
    ray.machines = {"n1": {"CPU": 4.0}}
    heard(opened(workers=2))
    assert len(ray.actors) == 2


def test_a_worker_takes_tasks_when_it_is_ready_and_free(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    executor = opened()
    heard(executor)
    actor, = ray.actors
    actor.arrive()
    assert heard(executor) == [] and executor.slots == executor.plain_slots == 0
    actor.say(READY)
    assert heard(executor) == [WorkerReport("far worker 1", READY)]
    assert executor.slots == executor.plain_slots == 1 and not actor.waiting
    task = shot(store)
    executor.submit(task)
    assert executor.slots == executor.plain_slots == 0
    assert actor.submitted == [(task_to_json(task, store), {})]
    actor.say(FRAME)
    assert heard(executor, 2) == [WorkerReport("far worker 1", Begun(), task),
                                  WorkerReport("far worker 1", FRAME, task)]
    actor.say()
    assert heard(executor) == [] and executor.slots == 0 and len(actor.waiting) == 1
    actor.say(FRAME, JobDone())
    assert heard(executor) == [WorkerReport("far worker 1", FRAME, task),
                               WorkerReport("far worker 1", JobDone(), task)]
    assert executor.slots == 1 and not actor.waiting
    executor.submit(clip(store))
    assert len(actor.submitted) == 2 and not Here.made[0].submitted


def test_each_of_several_workers_has_a_name_and_gets_a_task(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    ray.machines = {"n1": {"CPU": 2.0}}
    executor = opened()
    warm(executor, ray)
    assert executor.slots == 2
    first, second = shot(store, name="a"), shot(store, name="b")
    executor.submit(first)
    executor.submit(second)
    assert [len(actor.submitted) for actor in ray.actors] == [1, 1]
    for actor in ray.actors:
        actor.say(JobFailed("it burnt"))
    assert heard(executor, 2) == [
        WorkerReport("far worker 1", Begun(), first), WorkerReport("far worker 2", Begun(), second),
        WorkerReport("far worker 1", JobFailed("it burnt"), first),
        WorkerReport("far worker 2", JobFailed("it burnt"), second)]
    assert executor.slots == 2 and len(ray.alive) == 2


def test_how_long_is_listened(ray: PretendedRay, opened: Open, store: Path, clock: Clock) -> None:
    ray.machines = {}
    executor = opened()
    heard(executor)
    assert clock.slept == [0.25] and not ray.waits
    ray.machines = {"n1": {"CPU": 1.0}}
    clock.now += 2.0
    heard(executor)
    assert ray.waits == [(1, 0), (1, 0.25)] and clock.slept == [0.25]
    ray.actors[0].arrive()
    ray.waits.clear()
    heard(executor)
    assert ray.waits == [(1, 0)]
    ray.actors[0].say(READY)
    heard(executor)
    executor.submit(shot(store))
    ray.waits.clear()
    heard(executor)
    assert ray.waits == [(1, 0), (1, 0)], "what is known already is told at once"


def test_files_go_where_the_store_is_not_seen_and_frames_come_back(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    executor = opened()
    actor, = warm(executor, ray, sees_store=False)
    task = shot(store)
    executor.submit(task)
    assert actor.submitted == [(task_to_json(task, store), {
        name: name.encode() for name in ("characters/c.npz", "performances/p.npz")})]
    (store / "shots" / "s").mkdir(parents=True)
    actor.say(WorkerMessage(FRAME, ("shots/s/000001.npz", b"frame")), JobDone())
    assert messages(executor, 2) == [Begun(), FRAME, JobDone()]
    assert (store / "shots" / "s" / "000001.npz").read_bytes() == b"frame"
    assert makers(store / "shots" / "s") == (READY.cpu,)


def test_the_picture_that_lights_figures_goes_along(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    executor = opened()
    actor, = warm(executor, ray, sees_store=False)
    task, picture = shot(store), store / "pictures" / "ab.hdr"
    picture.parent.mkdir()
    picture.write_bytes(b"light")
    assert isinstance(task.job, ShotJob)
    executor.submit(replace(task, job=replace(task.job, world=picture)))
    (content, files), = actor.submitted
    assert files["pictures/ab.hdr"] == b"light" and content["world"] == "pictures/ab.hdr"


def test_nobody_is_noted_as_the_maker_of_ground_truth(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    executor = opened()
    actor, = warm(executor, ray, sees_store=False)
    task = shot(store, PassJob)
    assert isinstance(task.job, PassJob)
    executor.submit(Task(PassJob(task.job.figures, task.job.cameras, CONFIG, task.job.folders,
                                 task.job.missing, ("depth",)), "depth"))
    (store / "shots" / "s").mkdir(parents=True)
    actor.say(WorkerMessage(FRAME, ("shots/s/000001.npz", b"depth")))
    assert FRAME in messages(executor, 2) and makers(store / "shots" / "s") == ()


def test_beside_gpus_clips_have_workers_of_their_own(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    ray.machines = {"n1": {"CPU": 5.0, "GPU": 2.0}, "n2": {"CPU": 1.0, "GPU": 1.0}}
    executor = opened("optix")
    warm(executor, ray)
    kinds = [(actor.node, actor.given[2], actor.needs) for actor in ray.actors]
    gpu, cpu = {"num_cpus": 1, "num_gpus": 1.0}, {"num_cpus": 1}
    assert kinds == [("n1", "optix", gpu), ("n1", "optix", gpu), ("n1", "none", cpu),
                     ("n1", "none", cpu), ("n2", "optix", gpu)]
    assert (executor.slots, executor.plain_slots) == (3, 2)
    executor.submit(clip(store))
    assert (executor.slots, executor.plain_slots) == (3, 1) and len(ray.actors[2].submitted) == 1
    for name in "abc":
        executor.submit(shot(store, name=name))
    assert [len(actor.submitted) for actor in ray.actors] == [1, 1, 1, 0, 1]
    assert (executor.slots, executor.plain_slots) == (0, 1)


def test_processors_that_are_no_worker_of_a_gpu_do_clips(ray: PretendedRay, opened: Open) -> None:
    ray.machines = {"n1": {"CPU": 5.0, "GPU": 2.0}}
    heard(opened("optix", cpus_per_task=2))
    assert [actor.given[2] for actor in ray.actors] == ["optix", "optix", "none"]


def test_workers_for_clips_do_not_stand_for_a_gpu(ray: PretendedRay, opened: Open) -> None:
    ray.machines = {"n1": {"CPU": 2.0, "GPU": 1.0}}
    executor = opened("optix", workers=1)
    heard(executor)
    assert [actor.given[2] for actor in ray.actors] == ["optix", "none"]
    ray.actors[1].arrive()
    heard(executor)
    ray.actors[1].say(READY)
    heard(executor)
    assert executor.slots == 0 and executor.plain_slots == 1
    ray.actors[0].arrive()
    heard(executor)
    ray.actors[0].say(JobFailed("no driver"))
    with pytest.raises(RequestError, match="none of the cluster's machines can render: no driver"):
        heard(executor)


def test_where_no_other_sees_the_store_this_machine_does_clips(
    ray: PretendedRay, opened: Open, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    executor = opened()
    here, = Here.made
    assert here.devices == ["none"] * 6 and here.threads == 1
    assert executor.plain_slots == 0, "nobody knows yet"
    warm(executor, ray, sees_store=False)
    assert (executor.slots, executor.plain_slots) == (1, 7)
    task = clip(store)
    executor.submit(task)
    assert here.submitted == [task] and executor.slots == 1
    said = WorkerReport("here", JobDone(), task)
    here.says = [said]
    assert heard(executor) == [said]
    executor.submit(shot(store))
    assert executor.slots == 0 and len(here.submitted) == 1


def test_clips_go_only_to_who_sees_the_store(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    ray.machines["n2"] = {"CPU": 1.0}
    executor = opened()
    heard(executor)
    for actor, sees in zip(ray.actors, (False, True), strict=True):
        actor.arrive(sees_store=sees)
    heard(executor)
    for actor in ray.actors:
        actor.say(READY)
    heard(executor)
    assert (executor.slots, executor.plain_slots) == (2, 1)
    executor.submit(clip(store))
    assert [len(actor.submitted) for actor in ray.actors] == [0, 1]


def test_the_store_may_be_mounted_elsewhere(ray: PretendedRay, opened: Open, store: Path) -> None:
    heard(opened(store_there="/mnt/store"))
    probe, shared, *_ = ray.actors[0].given
    assert probe.root == Path("/mnt/store") and shared is None
    assert (store / probe.name).read_text() == probe.token


QUIET = {"logging_level": "ERROR", "log_to_driver": False}
OWN = {"address": "local", "include_dashboard": False} | QUIET


@pytest.mark.parametrize(("address", "refuses", "joined"), [
    ("none", [], [OWN]),
    ("auto", [], [{"address": "auto"} | QUIET]),
    ("auto", [ConnectionError()], [{"address": "auto"} | QUIET, OWN]),
])
def test_how_a_cluster_is_joined(
    ray: PretendedRay, opened: Open, address: str, refuses: list[Exception],
    joined: list[dict[str, Any]]
) -> None:
    ray.refuses = refuses
    opened(address=address)
    assert ray.joined == joined


def test_a_cluster_that_cannot_be_joined_is_said_and_none_at_all_is_not(
    ray: PretendedRay, opened: Open
) -> None:
    ray.refuses = [ConnectionError("Could not find any running Ray instance. Please specify")]
    opened(address="auto")
    assert ray.told == []
    ray.connected = False
    ray.refuses = [ConnectionError("Failed to connect to Ray cluster at 10.0.0.1:6379")]
    opened(address="auto")
    (told,) = ray.told
    assert "this machine works alone (Failed to connect to Ray cluster at 10.0.0.1:6379)" in told


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_cluster_elsewhere_is_joined_where_it_answers(
    ray: PretendedRay, opened: Open, scheme: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"{scheme}127.0.0.1:{there.getsockname()[1]}"
        opened(address=address)
    assert ray.joined == [{"address": address} | QUIET]
    ray.connected = False
    with pytest.raises(RequestError, match=f"^--address {address}: no Ray cluster answers"):
        opened(address=address)
    assert len(ray.joined) == 1, "Ray itself would try for minutes"


@pytest.mark.parametrize("kind", [RuntimeError, ValueError, ConnectionError, ImportError])
def test_what_ray_says_of_a_cluster_that_it_cannot_join_is_one_line(
    ray: PretendedRay, opened: Open, kind: type[Exception]
) -> None:
    ray.refuses = [kind("Version mismatch:\n  " + 400 * "x")]
    with pytest.raises(RequestError) as refused:
        opened(address="none")
    assert str(refused.value) == ("--address none: no Ray cluster answers (Version mismatch: "
                                  f"{182 * 'x'})")


def test_without_ray_it_is_said_what_to_install(
    monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.delenv("RAY_USAGE_STATS_ENABLED", raising=False)
    with pytest.raises(RequestError, match=r"needs Ray: pip install 'mimegen\[ray\]'"):
        RayExecutor(store, FarmSettings(farm="ray"), "cpu")
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0", "no word to its makers"


def test_what_no_machine_has_is_said_at_once_and_seldom(
    ray: PretendedRay, opened: Open, clock: Clock
) -> None:
    ray.machines = {"n1": {"CPU": 8.0}, "n2": {"CPU": 2.0, "GPU": 0.5}, "off": {"GPU": 4.0}}
    ray.dead = {"off"}
    executor = opened("cuda", cpus_per_task=4)
    heard(executor)
    assert ray.told == [
        "waiting for Ray: a worker asks for 4 CPU and 1 GPU; no machine of the cluster has that"
        " (host of n1 has 8 CPU and 0 GPU; host of n2 has 2 CPU and 0.5 GPU); ask for less with"
        " --cpus-per-task and --gpus-per-task, or wait for machines to join"]
    clock.now += 250
    heard(executor, 3)
    assert len(ray.told) == 1
    clock.now += 100
    heard(executor, 3)
    assert len(ray.told) == 2
    ray.machines = {}
    clock.now += 400
    heard(executor)
    assert "has that (it has none)" in ray.told[2]


def test_a_cluster_that_no_machine_can_join_is_not_waited_for(
    ray: PretendedRay, opened: Open
) -> None:
    ray.machines = {"n1": {"CPU": 2.0}}
    executor = opened("cuda", address="none")
    with pytest.raises(RequestError, match=r"asks for 1 CPU and 1 GPU; .*n1 has 2 CPU and 0 GPU"):
        heard(executor)


def test_what_others_have_is_said_after_a_while_until_a_worker_arrives(
    ray: PretendedRay, opened: Open, clock: Clock
) -> None:
    ray.machines, ray.free = {"n1": {"CPU": 4.0}, "n2": {"CPU": 2.0}}, {"CPU": 0.5}
    executor = opened(cpus_per_task=2)
    heard(executor)
    clock.now += 15
    heard(executor)
    assert ray.told == []
    clock.now += 10
    heard(executor, 2)
    assert ray.told == ["waiting for Ray: a worker asks for 2 CPU and 0 GPU; the cluster has 6 CPU"
                        " and 0 GPU, of which 0.5 CPU and 0 GPU are free: other jobs have the rest"]
    ray.actors[0].arrive()
    heard(executor)
    clock.now += 1000
    heard(executor, 2)
    assert len(ray.told) == 1


@pytest.mark.parametrize(("resources", "cpus", "gpus", "workers"), [
    ({"CPU": 4.0}, 1, 0.0, 4), ({"CPU": 4.0}, 3, 0.0, 1), ({"CPU": 4.0}, 5, 0.0, 0),
    ({"CPU": 4.0}, 1, 1.0, 0), ({"CPU": 4.0, "GPU": 2.0}, 1, 1.0, 2),
    ({"CPU": 4.0, "GPU": 8.0}, 1, 1.0, 4), ({"CPU": 4.0, "GPU": 8.0}, 2, 1.0, 2),
    ({"CPU": 8.0, "GPU": 1.0}, 1, 0.5, 2), ({"CPU": 8.0, "GPU": 1.0}, 5, 0.25, 1),
    ({"GPU": 4.0}, 1, 1.0, 0), ({}, 1, 0.0, 0)])
def test_a_machine_holds_as_many_workers_as_cpus_and_gpus_allow(
    resources: dict[str, float], cpus: int, gpus: float, workers: int
) -> None:
    assert _fitting(resources, cpus, gpus) == workers


def test_machines_with_gpus_get_one_plain_worker_beside_each_other_one_and_no_more(
    ray: PretendedRay, opened: Open, clock: Clock
) -> None:
    ray.machines = {"n1": {"CPU": 8.0, "GPU": 2.0}, "n2": {"CPU": 3.0, "GPU": 2.0}}
    executor = opened("cuda")
    for _ in range(4):
        heard(executor)
        clock.now += 10
    needs = [(actor.node, actor.needs.get("num_gpus", 0.0)) for actor in ray.actors]
    assert sorted(needs) == [("n1", 0.0), ("n1", 0.0), ("n1", 1.0), ("n1", 1.0),
                             ("n2", 0.0), ("n2", 1.0), ("n2", 1.0)]
