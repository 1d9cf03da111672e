"""Workers of the raster engine, and what happens where OpenGL fails."""

import os
import signal
from contextlib import closing
from dataclasses import replace
from functools import partial

import moderngl
import numpy as np
import pytest
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.farm.dispatch import TaskDone, TaskFailed, run_tasks
from mimegen.farm.local import LocalExecutor
from mimegen.farm.task import Task
from mimegen.groundtruth.job import PassJob
from mimegen.groundtruth.kinds import Kind
from mimegen.rendering.opengl.context import (
    OpenGLError,
    checked,
    context_of_process,
    is_sound,
    open_context,
)
from mimegen.rendering.opengl.worker import serve
from mimegen.rendering.passes_server import PassServer
from mimegen.rendering.receiving import JobReceived
from mimegen.rendering.worker import StageWorker
from mimegen.scenery.job import SetJob
from mimegen.scenery.scenery import Scenery
from mimegen.shots.devices import OPENGL
from mimegen.shots.figures import publish_figure
from mimegen.shots.framing import frame_camera
from mimegen.shots.jobs import FigureFiles, FrameDone, JobDone, JobFailed, Ready, ShotJob
from mimegen.store.frames import frame_name, read_frame
from raster_scene import ROOM, draft, performance
from running import blender_processes


def test_a_worker_draws_what_is_missing_and_goes_on_after_what_it_cannot_draw(
        context, tmp_path) -> None:
    played, config = performance(), draft()
    files = FigureFiles(tmp_path / "character.npz", tmp_path / "performance.npz")
    publish_figure(played, files)
    missing = np.array([[True], [False], [True]])
    job = ShotJob((files,), (frame_camera([played], config, 0.0),), config,
                  (tmp_path / "shot",), missing)
    nobody = FigureFiles(tmp_path / "none.npz", tmp_path / "none.npz")
    still = SetJob(Scenery.model_validate(ROOM), job.cameras[0], config, tmp_path / "still.png")
    worker = StageWorker("opengl", 1)
    try:
        ready = worker.connection.recv()
        assert isinstance(ready, Ready) and ready.device == "opengl" and "OpenGL" in ready.program
        for _ in range(2):
            failed = last_answer(worker, replace(job, figures=(nobody,)))
            assert isinstance(failed, JobFailed) and "none.npz" in failed.message
        # A set between two shots leaves the figures' stage as it was.
        for wanted in (job, still, job):
            answer = last_answer(worker, wanted)
            assert isinstance(answer, JobDone), answer
    finally:
        worker.kill()
    made = sorted(path.name for path in (tmp_path / "shot").glob("*.npz"))
    assert made == [frame_name(0), frame_name(2)]
    frame = read_frame(tmp_path / "shot" / frame_name(0))
    assert frame.figure[..., 3].max() == 255 and frame.shadow.max() > 60
    assert Image.open(still.target).size == (160, 90)


def last_answer(worker: StageWorker, job: ShotJob | SetJob) -> object:
    """Return what a worker answers to a job after its frames."""
    worker.submit(job)
    while isinstance(answer := worker.connection.recv(), JobReceived | FrameDone):
        pass
    return answer


def test_a_driver_that_dies_between_frames_costs_no_frame(context, tmp_path) -> None:
    played, config = performance(), draft()
    files = FigureFiles(tmp_path / "character.npz", tmp_path / "performance.npz")
    publish_figure(played, files)
    cameras = tuple(frame_camera([played], config, angle) for angle in (0.0, 90.0))
    folders = tuple(tmp_path / name for name in ("front", "side"))
    count = min(6, played.motion.frames)
    missing = np.zeros((played.motion.frames, 2), np.bool_)
    missing[:count] = True
    task = Task(ShotJob((files,), cameras, config, folders, missing), "shot")
    killed, ended = False, []
    with closing(run_tasks([task], partial(LocalExecutor, [OPENGL], 1, tmp_path))) as events:
        for event in events:
            if isinstance(event, FrameDone) and not killed:
                killed = True
                victim, = blender_processes(os.getpid())
                os.kill(victim, signal.SIGKILL)
            if isinstance(event, TaskDone | TaskFailed):
                ended.append(event)
    assert killed and len(ended) == 1 and isinstance(ended[0], TaskDone)
    for folder in folders:
        assert sorted(path.name for path in folder.glob("*.npz")) == [
            frame_name(number) for number in range(count)]
        for number in range(count):
            read_frame(folder / frame_name(number))
        assert not [path for path in folder.iterdir() if ".part" in path.name]


class Lost:
    """A connection to a worker whose context is lost amid a frame."""

    def __init__(self, *jobs: object) -> None:
        self.jobs, self.told = list(jobs), list[object]()

    def recv(self) -> object:
        return self.jobs.pop(0)

    def send(self, message: object) -> None:
        self.told.append(message)


@pytest.mark.parametrize("kinds", [(), ("mask",)], ids=["pictures", "passes"])
def test_a_context_that_is_lost_amid_a_frame_ends_its_worker(
        context, tmp_path, monkeypatch: pytest.MonkeyPatch, kinds: tuple[Kind, ...]) -> None:
    played, config = performance(), draft()
    files = FigureFiles(tmp_path / "character.npz", tmp_path / "performance.npz")
    publish_figure(played, files)
    job = ShotJob((files,), (frame_camera([played], config, 0.0),), config, (tmp_path / "shot",),
                  np.ones((played.motion.frames, 1), np.bool_))
    job = PassJob(**vars(job), kinds=kinds) if kinds else job

    def lost(*_: object, **__: object) -> None:
        raise moderngl.Error("the context was lost")

    monkeypatch.setattr(moderngl.Context, "copy_framebuffer", lost)
    monkeypatch.setattr(moderngl.Context, "renderbuffer", lost)
    connection = Lost(job, job)
    serve(connection, 1)  # type: ignore[arg-type]
    ready, taken, failed = connection.told
    assert isinstance(ready, Ready) and isinstance(taken, JobReceived)
    assert isinstance(failed, JobFailed)
    assert ("mask of frame 0" if kinds else "frame 0 from camera 0") in failed.message
    assert "\n" not in failed.message
    assert len(connection.jobs) == 1, "another process does the next"
    assert not list(tmp_path.glob("shot/*"))


def test_a_server_whose_opengl_is_lost_draws_no_more(
        context, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker of Blender's that only made passes by it then ends as well."""
    assert PassServer(1).draws() and PassServer(1, context).draws()

    def lost(*_: object, **__: object) -> None:
        raise moderngl.Error("the context was lost")

    monkeypatch.setattr(moderngl.Context, "renderbuffer", lost)
    assert PassServer(1).draws() and not PassServer(1, context).draws()


def test_what_opengl_refuses_leaves_nothing_and_others_are_drawn(context, tmp_path) -> None:
    config = draft()
    camera = frame_camera([performance()], config, 0.0)
    endless = replace(camera, width=400_000, height=225_000)
    scenery = Scenery.model_validate(ROOM)
    tasks = [Task(SetJob(scenery, seen, config, tmp_path / f"{name}.png"), name)
             for name, seen in (("endless", endless), ("usual", camera))]
    ended = {}
    with closing(run_tasks(tasks, partial(LocalExecutor, [OPENGL], 1, tmp_path))) as events:
        for event in events:
            if isinstance(event, TaskDone | TaskFailed):
                ended[event.task.title] = event
    assert isinstance(ended["usual"], TaskDone) and Image.open(tmp_path / "usual.png")
    failed = ended["endless"]
    assert isinstance(failed, TaskFailed) and "endless" in failed.why and "\n" not in failed.why
    assert not (tmp_path / "endless.png").exists()


def test_a_process_has_one_context(context) -> None:
    # What another one leaves behind would be deleted in this one, which is GL_INVALID_VALUE.
    assert context_of_process(2) is context_of_process() is context
    assert PassServer(1)._opengl() is context


def test_an_error_of_opengl_is_told(context) -> None:
    assert is_sound(context)
    checked(context)
    context.enable_direct(0x1234)
    with pytest.raises(OpenGLError, match="says GL_INVALID_ENUM"):
        checked(context)
    assert is_sound(context)


def test_without_opengl_one_line_names_the_packages(monkeypatch) -> None:
    def absent(**_: object) -> moderngl.Context:
        raise ValueError("libEGL.so.1 is not\nloaded")

    monkeypatch.setattr(moderngl, "create_context", absent)
    with pytest.raises(RequestError) as told:
        open_context()
    text = str(told.value)
    assert "libegl1" in text and "libgl1-mesa-dri" in text and "\n" not in text


@pytest.mark.parametrize(("number", "said"), [("97", "OpenGL does not start"), ("x", "number")])
def test_a_gpu_that_is_not_there_is_said_in_one_line(monkeypatch, number: str, said: str) -> None:
    monkeypatch.setenv("MIMEGEN_OPENGL_DEVICE", number)
    with pytest.raises(RequestError) as told:
        open_context()
    assert said in str(told.value) and "\n" not in str(told.value)
