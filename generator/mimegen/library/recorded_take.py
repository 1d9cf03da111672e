"""Takes of motion capture: one file, or two files of one scene."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mimegen.base.files import Stamp, content_key, file_hash, stamp
from mimegen.library.keys import recording_code
from mimegen.library.take import RELAXED, Source, TakeDescription
from mimegen.motion.editing import at_rate
from mimegen.readers import ReadOptions, Recording, Trim, kind_of, read_motion
from mimegen.readers.asf_amc import skeleton_file
from mimegen.readers.canonical import heading_deg
from mimegen.readers.files import buffers_beside
from mimegen.readers.options import AS_FOUND
from mimegen.readers.partners import (
    cut_to_common_span,
    doubts_on_placement,
    in_common_frame,
    partner_options,
)


@dataclass(frozen=True, kw_only=True)
class RecordedTake(TakeDescription):
    """A motion capture file, and perhaps that of a partner with the same clock and world.

    ``options`` are those for reading the files; ``source`` and ``original_name`` are the origin of
    an imported file; ``hand_shape`` is that of fingers without motion in the file.
    """

    partner: Path | None = None
    options: ReadOptions = AS_FOUND
    source: str | None = None
    original_name: str | None = None
    hand_shape: str = RELAXED

    @property
    def seed(self) -> int:
        """Always 0: motion capture has no seed."""
        return 0

    @cached_property
    def key(self) -> str:
        """The content key of the motions."""
        return content_key(self._content, recording_code({kind_of(file) for file in self.files}),
                           *self.altered_key)

    @cached_property
    def _content(self) -> str:
        """The content key of the files and of the part used, without code."""
        skeletons = [skeleton_file(file, self.options.skeleton if file == self.file else None)
                     for file in self.files if file.suffix.lower() == ".amc"]
        buffers = [buffer for file in self.files for buffer in buffers_beside(file)]
        others = [*skeletons, *buffers,
                  *filter(None, [self.options.mapping, self.options.smpl_model])]
        return content_key([file_hash(file) for file in self.files],
                           [file_hash(file) for file in others], self.options.stack,
                           self.options.subject, str(self.options.trim), self.hand_shape,
                           *self._own_rate, *self._own_take)

    @property
    def _own_rate(self) -> tuple[float, ...]:
        """The frame rate given by the user; empty for the file's own, so old keys stay valid."""
        return () if self.options.fps_of_file is None else (self.options.fps_of_file,)

    @property
    def _own_take(self) -> tuple[str, ...]:
        """The take of the file chosen by the user; empty for the first, so old keys stay valid."""
        return () if self.options.take is None else (f"take {self.options.take}",)

    @property
    def timeline(self) -> None:
        """None: what happens in motion capture is unknown."""
        return None

    @property
    def version(self) -> tuple[str, ...]:
        """A short hash of the files and the part used, and the words for alterations."""
        return (self._content[:6], *self.altered_words)

    @property
    def words(self) -> tuple[str, ...]:
        """Action and take."""
        return self.action, self.name

    @property
    def front_deg(self) -> float:
        """Where hips and shoulders face at the start. Readers turn one person to face -Y; of two,
        placed as they stood to each other, it is measured.
        """
        return self.seen_front(self._heading)

    @cached_property
    def _heading(self) -> float:
        if self.partner is None:
            return 0.0
        first, second = self.recordings
        motion, _ = in_common_frame(first, second)
        return round(heading_deg(motion, first.roles), 1)

    @property
    def files(self) -> tuple[Path, ...]:
        """The file of every performer."""
        return (self.file, self.partner) if self.partner else (self.file,)

    @property
    def performers(self) -> int:
        """How many people the take shows."""
        return len(self.files)

    def sources(self, fps: float) -> tuple[Source, ...]:
        """Return every performer's motion at its own frame rate, with its joints by role."""
        recordings = self.recordings
        motions = [recordings[0].motion] if len(recordings) == 1 else in_common_frame(*recordings)
        return tuple((at_rate(motion, motion.fps * self.tempo), recording.roles)
                     for motion, recording in zip(motions, recordings, strict=True))

    def frames(self, fps: float) -> int:
        """Return the number of frames at a rate, counted as in ``motion.editing.resampled``."""
        motion = self.sources(fps)[0][0]
        if motion.fps == fps:
            return motion.frames
        return int(np.floor(motion.last_s * fps + 1e-6)) + 1

    @property
    def recordings(self) -> tuple[Recording, ...]:
        """The recordings in the files; partners are trimmed to the same span, fitting both."""
        if self.partner is None:
            return (recorded(self.file, self.options),)
        whole = replace(self.options, trim=Trim())
        recordings = (recorded(self.file, whole),
                      recorded(self.partner, partner_options(self.file, self.partner, whole)))
        return cut_to_common_span(self.files, recordings, self.options.trim)

    @property
    def notes(self) -> tuple[str, ...]:
        """All assumptions and doubts about the files; those on a partner's begin with its name."""
        recordings = self.recordings
        first, *others = recordings
        return (*first.notes, *doubts_on_placement(recordings),
                *(f"{file.name}: {note}" for file, recording
                  in zip(self.files[1:], others, strict=True) for note in recording.notes))

    @property
    def doubts(self) -> tuple[str, ...]:
        """A line of assumptions and doubts for each file that has any.

        Files with identical notes share a line.
        """
        recordings, lines = self.recordings, dict[str, list[str]]()
        for file, recording in zip(self.files, recordings, strict=True):
            lines.setdefault("; ".join(recording.notes), []).append(file.name)
        for doubt in doubts_on_placement(recordings):
            lines.setdefault(doubt, []).extend(file.name for file in self.files)
        return tuple(f"{' and '.join(files)}: {notes}"
                     for notes, files in lines.items() if notes)

    def facts(self) -> dict[str, Any]:
        """Return the manifest's fields for the take."""
        return {**self.described(), "seed": self.seed, "style": None,
                "motion_kind": self.file.suffix.lstrip("."), **self.reading()}

    def stated(self) -> dict[str, Any]:
        """Return the manifest's fields that files state and no content key covers."""
        return {**super().stated(), **self._origin}

    @property
    def _origin(self) -> dict[str, Any]:
        return {"motion_source": self.source, "motion_original_name": self.original_name}

    def reading(self) -> dict[str, Any]:
        """Return the manifest's fields on how the file was interpreted."""
        recording = self.recordings[0]
        read = recording.span or (0, recording.motion.frames - 1)
        first, last = (recording.skipped + frame for frame in read)
        return {
            **self._origin,
            "motion_stack": self.options.stack, "motion_subject": self.options.subject,
            "motion_fps_of_file": self.options.fps_of_file,
            "motion_take": self.options.take,
            "motion_smpl_model_sha256": file_hash(self.options.smpl_model)
            if self.options.smpl_model else None,
            "motion_trim": str(self.options.trim),
            "motion_first_frame": first, "motion_last_frame": last,
            "motion_mapping_sha256": file_hash(self.options.mapping) if self.options.mapping
            else None,
            "motion_system": recording.system, "motion_fps": recording.motion.fps,
            "motion_unit_m": recording.unit, "motion_unit_found_by": recording.unit_source,
            "motion_up_axis": recording.up_axis, "motion_up_axis_found_by": recording.up_source,
            "motion_notes": list(self.notes),
        }


def recorded(file: Path, options: ReadOptions) -> Recording:
    """Return what a file holds; cached until the file, or one that it needs, is written again."""
    return _recorded(file, options, tuple(stamp(one) for one in _needed(file, options)))


def _needed(file: Path, options: ReadOptions) -> tuple[Path, ...]:
    """Return the files that a recording is read from: ``file`` and those beside it."""
    if not file.is_file():
        return (file,)
    skeleton = (skeleton_file(file, options.skeleton),) if kind_of(file) == ".amc" else ()
    said = (one for one in (options.mapping, options.smpl_model) if one is not None)
    return (file, *skeleton, *buffers_beside(file), *said)


@lru_cache(maxsize=4)
def _recorded(file: Path, options: ReadOptions, written: tuple[Stamp | None, ...]) -> Recording:
    del written
    return read_motion(file, options)
