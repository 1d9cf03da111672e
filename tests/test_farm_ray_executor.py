"""What a driver makes of a Ray cluster's answers; Ray is replaced, so that it need not be there."""

import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from mimegen.base.errors import DiskFullError, RequestError
from mimegen.base.paths import data_folder
from mimegen.compositing.background import Background
from mimegen.compositing.clipjob import ClipJob
from mimegen.farm import ray as farm_ray
from mimegen.farm.executor import Begun, Heard, Lost, Unfit
from mimegen.farm.ray import RayExecutor
from mimegen.farm.remote import RemoteWorker, Said, version
from mimegen.farm.settings import FarmSettings
from mimegen.farm.task import Task, task_to_json
from mimegen.stage.camera import Camera
from mimegen.stage.config import read_config
from mimegen.stage.jobs import FigureFiles, FrameDone, JobDone, JobFailed, ShotJob
from mimegen.stage.passes.job import PassJob
from mimegen.store.makers import makers
from pretended_ray import READY, Actor, PretendedRay, PretendedRayError

CONFIG = read_config(data_folder() / "render_configs" / "preview.yaml")
CAMERA = Camera((0.0, -9.0, 1.0), (1.0, 0.0, 0.0, 0.0), 50.0, 64, 36)
FRAME = FrameDone(0, 1, 0.5)


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
        self.says: list[Heard] = []
        self.closed = False
        type(self).made.append(self)

    def submit(self, task: Task) -> None:
        self.submitted.append(task)

    def events(self, timeout: float) -> Iterator[Heard]:
        assert timeout == 0
        said, self.says = self.says, []
        yield from said

    def abandon(self, task: Task, why: str) -> None:
        self.abandoned.append((task, why))

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(farm_ray, "time", found)
    return found


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> PretendedRay:
    found = PretendedRay({"n1": {"CPU": 1.0}})
    monkeypatch.setattr(farm_ray, "_ray", lambda: found)
    monkeypatch.setattr(farm_ray, "LocalExecutor", Here)
    Here.made = []
    return found


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store that holds a body and a performance."""
    root = tmp_path / "store"
    for name in ("characters/c.npz", "performances/p.npz"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_bytes(name.encode())
    return root


Open = Callable[..., RayExecutor]


@pytest.fixture
def opened(ray: PretendedRay, store: Path) -> Iterator[Open]:
    made: list[RayExecutor] = []

    def open_one(device: str = "cpu", **settings: Any) -> RayExecutor:
        made.append(RayExecutor(store, FarmSettings(farm="ray", **settings), device))
        return made[-1]

    yield open_one
    for executor in made:
        executor.close()


def shot(root: Path, kind: type[ShotJob] = ShotJob, name: str = "s") -> Task:
    files = FigureFiles(root / "characters" / "c.npz", root / "performances" / "p.npz")
    return Task(kind((files,), (CAMERA,), CONFIG, (root / "shots" / name,), np.ones((2, 1), bool)),
                f"shot {name}")


def clip(root: Path) -> Task:
    white = Background(name="white", description="white", licence="CC0", author="", source="",
                       color=(1.0, 1.0, 1.0))
    return Task(ClipJob(root / "shots", (0,), 1.0, white, CAMERA, None, 24.0, root / "clip"),
                "clip")


def heard(executor: RayExecutor, rounds: int = 1) -> list[Heard]:
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
    assert others == [True, "cpu", 2, "n2"]
    assert probe.root == store and (store / probe.name).read_text() == probe.token
    assert len(probe.token) == 32
    heard(executor, 3)
    assert len(ray.actors) == 3, "they are on their way"


@pytest.mark.parametrize(("device", "settings", "needs", "threads"), [
    ("cpu", {}, {"num_cpus": 1, "num_gpus": 0.0}, 1),
    ("optix", {}, {"num_cpus": 1, "num_gpus": 1.0}, 0),
    ("cuda", {"gpus_per_task": 0.5, "cpus_per_task": 3}, {"num_cpus": 3, "num_gpus": 0.5}, 0),
    ("opengl", {"gpus_per_task": 0}, {"num_cpus": 1, "num_gpus": 0.0}, 0),
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
    assert heard(executor) == [Heard("far worker 1", READY)]
    assert executor.slots == executor.plain_slots == 1 and not actor.waiting
    task = shot(store)
    executor.submit(task)
    assert executor.slots == executor.plain_slots == 0
    assert actor.submitted == [(task_to_json(task, store), {})]
    actor.say(FRAME)
    assert heard(executor, 2) == [Heard("far worker 1", Begun(), task),
                                  Heard("far worker 1", FRAME, task)]
    actor.say()
    assert heard(executor) == [] and executor.slots == 0 and len(actor.waiting) == 1
    actor.say(FRAME, JobDone())
    assert heard(executor) == [Heard("far worker 1", FRAME, task),
                               Heard("far worker 1", JobDone(), task)]
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
        Heard("far worker 1", Begun(), first), Heard("far worker 2", Begun(), second),
        Heard("far worker 1", JobFailed("it burnt"), first),
        Heard("far worker 2", JobFailed("it burnt"), second)]
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
    actor.say(Said(FRAME, ("shots/s/000001.npz", b"frame")), JobDone())
    assert messages(executor, 2) == [Begun(), FRAME, JobDone()]
    assert (store / "shots" / "s" / "000001.npz").read_bytes() == b"frame"
    assert makers(store / "shots" / "s") == (READY.cpu,)


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
    actor.say(Said(FRAME, ("shots/s/000001.npz", b"depth")))
    assert FRAME in messages(executor, 2) and makers(store / "shots" / "s") == ()


def test_a_frame_that_comes_while_the_store_is_away_is_lost_and_nobody_is_to_blame(
    ray: PretendedRay, opened: Open, store: Path
) -> None:
    executor = opened()
    actor, = warm(executor, ray, sees_store=False)
    task = shot(store)
    executor.submit(task)
    actor.say(Said(FRAME, ("shots/s/000001.npz", b"frame")), FRAME)
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
    actor.say(Said(FRAME, ("shots/s/000001.npz", b"frame")))
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
    actor.say(Lost("the Blender process died"))
    assert heard(executor, 2)[1] == Heard("far worker 1", Lost("the Blender process died"), task)
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
    assert heard(executor) == [Heard("far worker 1", Lost("nothing was heard"), hanging)]
    assert [actor.alive for actor in ray.actors[:2]] == [False, True]
    assert Here.made[0].abandoned == [(hanging, "nothing was heard")]


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
    said = Heard("here", JobDone(), task)
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


def test_what_ray_says_of_a_cluster_that_it_cannot_join_is_one_line(
    ray: PretendedRay, opened: Open
) -> None:
    ray.refuses = [RuntimeError("Version mismatch:\n  " + 400 * "x")]
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
