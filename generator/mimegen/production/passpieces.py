"""Folders of ground truth (pass files): their sources, and the clips they belong to."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mimegen.base.errors import RequestError
from mimegen.base.files import make_folder
from mimegen.compositing.passfiles import FACTS, PassSource
from mimegen.compositing.passjob import PassFilesJob
from mimegen.farm.task import Task
from mimegen.groundtruth.kinds import KINDS, WITH_SET
from mimegen.manifest.parts import CameraFacts, PassFacts, SetChanges
from mimegen.manifest.row import Row
from mimegen.plan.clips import PlannedClip
from mimegen.plan.passes import WantedPasses
from mimegen.plan.shots import camera_from
from mimegen.plan.staging import Filmed
from mimegen.production.moving import move, remove
from mimegen.production.passtasks import Column, geometry_file
from mimegen.scenery.clearing import NONE, SetClearing
from mimegen.store.frames import frame_name
from mimegen.store.shotfacts import CameraRecord
from mimegen.store.store import Store

PASSES = "passes"
_FOLDER_DIGITS = 20  # digits of the files' key in a folder's name
_OURS = re.compile(rf"[0-9a-f]{{{_FOLDER_DIGITS}}}")


@dataclass(eq=False)
class PassFolder:
    """A folder of pass files for ``clip`` and any other ``clips`` (plain names) that share it.

    A worker writes it in the store, at ``made``; then it is moved to ``target``.
    """

    clip: PlannedClip
    column: Column
    filmed: Filmed
    source: PassSource
    made: Path
    target: Path
    clips: dict[str, None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key of the shot's pass, which the job claims while it makes this folder."""
        return self.source.folder.name

    @property
    def is_complete(self) -> bool:
        """Whether the folder is complete at its target."""
        return (self.target / FACTS).is_file()

    @property
    def ready(self) -> bool:
        """Whether all frames and geometry it is made from exist."""
        source = self.source
        return (source.geometry is None or source.geometry.exists()) and all(
            (source.folder / frame_name(frame)).exists() for frame in set(source.shown))

    def task(self) -> Task:
        """Return the task that makes the folder."""
        remove(self.made)
        return Task(PassFilesJob(self.source, self.made),
                    f"{self.source.kind} of {next(iter(self.clips))}")

    def bring(self) -> None:
        """Move what a worker made to its target.

        Raises RequestError if the worker's folder is missing, DiskFullError if the disk has no
        space for it.
        """
        if not self.made.is_dir():
            raise RequestError(f"{self.made}: was written but cannot be found; check that all"
                               " workers use the same store")
        make_folder(self.target.parent)
        move(self.made, self.target)

    def row_facts(self, out: Path, facts: dict[str, Any]) -> PassFacts:
        """Return the entry for the rows of ``out``, from the ``facts`` stored in the folder."""
        geometry = self.source.geometry
        return PassFacts(
            folder=self.target.relative_to(out).as_posix(), key=self.key,
            geometry_key=None if geometry is None else geometry.parent.name,
            engine=facts["engine"], files=facts["files"], sha256=facts["sha256"])


def pieces_of(clip: PlannedClip, row: Row, wanted: WantedPasses, store: Store, out: Path
              ) -> Iterator[PassFolder]:
    """Yield the pass folders of a clip with this row; none if the row records no camera."""
    if row.camera is None:
        return
    filmed = _filmed(row.camera, row.set_changes)
    facts = store.shot_facts(clip.shot.key)
    frames = int(facts["frames"]) if facts else row.frames
    for kind in wanted.kinds:
        column = Column(clip.shot, kind, filmed.camera, frames)
        yield _pass_folder(clip, column, filmed, wanted, store, out)


def _filmed(camera: CameraFacts, changes: SetChanges | None) -> Filmed:
    """Return how a set was filmed, from a row's camera and set changes."""
    return Filmed(camera_from(cast(CameraRecord, camera.model_dump())), NONE if changes is None
                  else SetClearing.from_content(changes.model_dump()))


def _pass_folder(clip: PlannedClip, column: Column, filmed: Filmed, wanted: WantedPasses,
                 store: Store,
                 out: Path) -> PassFolder:
    """Return the folder of a clip's pass, with all it is made from."""
    kind = column.kind
    shows = clip.showing(column.frames)
    shown = tuple(shows.frames.tolist())
    geometry = wanted.geometry_key(clip, filmed) if kind in WITH_SET else None
    key = wanted.files_key(clip, kind, filmed, shown, shows.shadow)
    source = PassSource(
        kind, store.pass_folder(wanted.key(clip.shot, kind)), shown, filmed.camera,
        clip.shot.config.fps, wanted.engine, shows.shadow,
        None if geometry is None else geometry_file(store, geometry), wanted.flow_files,
        clip.filmed_look)
    return PassFolder(clip, column, filmed, source, store.encoded_folder(key),
                      out / PASSES / kind / key[:_FOLDER_DIGITS], {clip.sample_id: None})


def stray_passes(out: Path, rows: Iterable[Row]) -> list[Path]:
    """Return the folders of ground truth in ``out`` that no row names, sorted.

    Folders whose names do not follow mimegen's pattern are not ours and are left out.
    """
    named = {facts.folder for row in rows for facts in (row.passes or {}).values()}
    return [folder for folder in sorted((out / PASSES).glob("*/*"))
            if is_pass_folder(folder.relative_to(out))
            and folder.relative_to(out).as_posix() not in named]


def is_pass_folder(place: Path) -> bool:
    """Return whether a path relative to OUT is named like a folder of ground truth."""
    return (len(place.parts) == 3 and place.parts[0] == PASSES and place.parts[1] in KINDS
            and _OURS.fullmatch(place.name) is not None)
