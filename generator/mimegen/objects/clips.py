"""Rendered clips with their manifest rows."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.arrays import ByteArray, FloatArray
from mimegen.base.counted import counted
from mimegen.base.errors import RequestError, near_misses
from mimegen.compositing.decode import clip_pictures, read_clip, read_pictures
from mimegen.evaluation.making import (
    ASKS,
    DIFFICULTIES,
    PROMPTINGS,
    QuestionRequest,
    questions_of,
)
from mimegen.evaluation.question import Question
from mimegen.evaluation.sampling import parse_sampling
from mimegen.evaluation.subjects import forwards
from mimegen.evaluation.templates import OPTIONS, read_templates
from mimegen.library.catalogue import Catalogue
from mimegen.manifest.file import clip_path, content_of, some_rows
from mimegen.manifest.left_out import LeftOutCell, read_left_out
from mimegen.manifest.row import Row
from mimegen.methods import ClipSet, Description
from mimegen.objects.arguments import checked_choice, checked_seed
from mimegen.objects.media import Video
from mimegen.objects.records import data_frame, html_table
from mimegen.objects.wanted import has_any, wanted_values

if TYPE_CHECKING:
    import pandas

# The fields of rows that other words mean.
MEANT = {"character": "avatar", "person": "avatar", "partner": "partner_avatar",
         "background": "background_name", "config": "render_config_name", "direction_deg": "angle",
         "view": "angle", "motion": "motion_file"}


class Clip:
    """A finished video and its manifest row. Fields of the row are attributes: ``clip.action``."""

    def __init__(self, folder: Path, row: Row) -> None:
        self._folder, self.row, self.path = folder, row, clip_path(folder, row)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "row":
            raise AttributeError(name)
        if not hasattr(self.row, name):
            of_all = (f"; that is a method of all clips, as in mimegen.open(FOLDER).{name}()"
                      if hasattr(Clips, name) else near_misses(name, Row.model_fields))
            raise AttributeError(f"a clip has no attribute '{name}'{of_all}")
        return getattr(self.row, name)

    def frames(self) -> Iterator[ByteArray]:
        """Yield the pictures (height, width, 3) as sRGB bytes.

        Raises RequestError for a clip that is absent, damaged or no video.
        """
        return clip_pictures(read_clip(self.path))

    def ground_truth(self, kind: str) -> Path:
        """Return the folder of a ground-truth pass such as ``keypoints`` or ``depth``.

        Raises RequestError, naming the passes that are there, for any other.
        """
        passes = self.row.passes or {}
        if kind not in passes:
            there = ", ".join(passes) or "no pass; render with passes=..."
            raise RequestError(f"{self.row.sample_id}: no pass '{kind}' (available: {there})")
        return self._folder / passes[kind].folder

    def keypoints(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of ``keypoints.npz``, as docs/guide/passes.md describes them."""
        with np.load(self.ground_truth("keypoints") / "keypoints.npz") as arrays:
            return dict(arrays)

    def depth(self, frame: int) -> FloatArray:
        """Return a frame's depth (height, width): metres along the camera's axis.

        It is infinite where unknown. Raises RequestError without the pass, or for no such frame.
        """
        from OpenEXR import File

        file = self._truth_file("depth", frame, ".exr")
        return np.asarray(File(str(file)).channels()["Z"].pixels, dtype=float)

    def mask(self, frame: int) -> ByteArray:
        """Return a frame's labels (height, width): 0 background, 1 and 2 performers, 255 shadow.

        Raises RequestError without the pass, or for no such frame.
        """
        with Image.open(self._truth_file("mask", frame, ".png")) as picture:
            return np.asarray(picture, dtype=np.uint8)

    def _truth_file(self, kind: str, frame: int, suffix: str) -> Path:
        file = self.ground_truth(kind) / f"{frame:06d}{suffix}"
        if not 0 <= frame < self.row.frames or not file.is_file():
            raise RequestError(f"{self.row.sample_id}: no frame {frame} of {kind} (frames: 0 to"
                               f" {self.row.frames - 1}); mimegen verify OUT finds missing files")
        return file

    def show(self) -> Image.Image:
        """Return the middle frame."""
        video = read_clip(self.path)
        picture, = read_pictures(video, [video.frames // 2], video.width)
        return Image.fromarray(picture)

    def play(self) -> Video:
        """Return the clip as a video that a notebook plays inline."""
        return Video(self.path.read_bytes())

    def __repr__(self) -> str:
        row = self.row
        view = "" if row.angle is None else f", from {row.angle:g} degrees"
        behind = "" if row.background_name is None else f", {row.background_name} behind"
        return (f"<Clip: {row.action} by {row.avatar or 'dots'}{behind}{view},"
                f" {row.frames / row.fps:.1f} s, {row.width} x {row.height}; {self.path}>")


class Clips(Sequence[Clip]):
    """The clips of a folder that ``mimegen render`` wrote, in the manifest's order."""

    def __init__(self, folder: str | Path, rows: Sequence[Row] | None = None) -> None:
        self.folder = Path(folder)
        self.rows = some_rows(self.folder) if rows is None else list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, number: int) -> Clip: ...
    @overload
    def __getitem__(self, number: slice) -> "Clips": ...
    def __getitem__(self, number: int | slice) -> "Clip | Clips":
        if isinstance(number, slice):
            return Clips(self.folder, self.rows[number])
        return Clip(self.folder, self.rows[number])

    @property
    def left_out(self) -> list[LeftOutCell]:
        """The variants that requests for the folder left out because they do not exist, and why."""
        return read_left_out(self.folder)

    def where(self, **facts: Any) -> "Clips":
        """Return the clips whose rows have these values, as in ``where(action="boxing", angle=0)``.

        A list, tuple or set means any of its values: ``where(angle=[0, 90])``. A field that is a
        list, such as ``labels``, matches the values that it contains. An action may be named by its
        id, a label or an alias. Fields have short names: ``character`` or ``person`` for
        ``avatar``, ``partner`` for ``partner_avatar``, ``background`` for ``background_name``,
        ``config`` for ``render_config_name``, ``view`` or ``direction_deg`` for ``angle``, and
        ``motion`` for ``motion_file``. Raises RequestError for a field that rows do not have, and
        for a value of a type that the field never has.
        """
        fields = {*Row.model_fields, *(field for row in self.rows for field, _ in row)}
        facts = {name if name in fields else MEANT.get(name, name): value
                 for name, value in facts.items()}
        for name in facts:
            if name not in fields:
                raise RequestError(f"where: rows have no field '{name}'"
                                   f"{near_misses(name, fields)}; frame() shows all fields")
        wanted = {name: wanted_values(name, value) for name, value in facts.items()}
        if "action" in wanted:
            wanted["action"] = [one and self._action_id(one) for one in wanted["action"]]
        return Clips(self.folder, [row for row in self.rows if all(
            has_any(getattr(row, name, None), values) for name, values in wanted.items())])

    def _action_id(self, name: str) -> str:
        """Return the id of an action of these clips; a name that the library lacks stays."""
        if any(row.action == name for row in self.rows):
            return name
        with suppress(RequestError):
            return Catalogue.with_libraries(()).action(name).action.id
        return name

    def questions(self, format: str = "mc", *, asks: str = "label",
                  prompting: str = "zero-shot", difficulty: str | None = None, seed: int = 0,
                  sampling: str = "video") -> list[Question]:
        """Return one question about each clip, as ``mimegen questions`` makes them.

        ``format`` is ``mc``, ``free``, ``3afc`` or ``description``. Clips that are played
        backwards are left out. Raises RequestError if there are too few actions to draw wrong
        answers from.
        """
        checked_choice("format", format, OPTIONS)
        checked_choice("asks", asks, ASKS)
        checked_choice("prompting", prompting, PROMPTINGS)
        if difficulty is not None:
            checked_choice("difficulty", difficulty, DIFFICULTIES)
            if not OPTIONS[format]:
                raise RequestError(f"difficulty does not apply to format={format!r}, which has no"
                                   " wrong answers")
        shown = forwards([row for row in self.rows if row.shows_its_action])
        return questions_of(shown, QuestionRequest(
            format, asks, prompting, read_templates(format, None), checked_seed(seed), difficulty,
            sampling=parse_sampling(sampling), sampling_text=sampling))

    def describe(self) -> Description:
        """Return methods, references, attribution and doubts of these clips for a paper.

        ``print(clips.describe())`` shows all of it, as ``mimegen cite`` does.
        """
        return Description.of(ClipSet(tuple(self.rows), left_out=tuple(self.left_out)))

    def frame(self) -> "pandas.DataFrame":
        """Return the manifest as a DataFrame with one row per clip."""
        return data_frame(content_of(row) for row in self.rows)

    def _repr_html_(self) -> str:
        shown = ["sample_id", "action", "avatar", "background_name", "angle", "frames"]
        return html_table(self.frame().reindex(columns=shown))

    def __repr__(self) -> str:
        actions, characters = ({getattr(row, name) for row in self.rows} - {None}
                               for name in ("action", "avatar"))
        return (f"<Clips: {counted(len(self), 'clip')} of {counted(len(actions), 'action')} by"
                f" {counted(len(characters), 'character')} in {self.folder}; .frame() is the"
                " manifest>")
