"""Control questions: the same question with less shown, to find what an answer relies on."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import content_key
from mimegen.base.seeds import generator
from mimegen.evaluation.opaque import opaque_name
from mimegen.evaluation.question import Question
from mimegen.evaluation.sampling import FrameSampling
from mimegen.evaluation.subjects import performance_of
from mimegen.manifest.row import Row

# Single frames are taken from this many equal parts of the clip, one question for each.
POSITIONS = 4
DEFAULT_SAMPLING = "uniform:8"
TEXT = "no video"
FRAME = "one frame"
SHUFFLED = "shuffled"
REVERSED = "reversed"
PERSON = "person alone"
DOTS = "dots alone"
BACKGROUND = "background alone"
# Factor of pairs whose halves play forwards and backwards; their questions get no control REVERSED.
PLAYED = "reversed"
# Names of controls in the option --controls.
NAMES = {"text": TEXT, "frame": FRAME, "shuffled": SHUFFLED, "reversed": REVERSED,
         "person": PERSON, "dots": DOTS, "background": BACKGROUND}

# What to render if a control needs a clip that does not exist.
ADD = {PERSON: "render base+blank from the same sides", DOTS: "render pointlight variants",
       BACKGROUND: "render nobody+BACKGROUND variants, such as nobody+aligned@0"}

Changes = dict[str, Any]


@dataclass(frozen=True)
class ControlRequest:
    """Which controls to make, and from which frames; with all these in order, the clip is complete.
    """

    names: tuple[str, ...]
    sampling: FrameSampling
    sampling_text: str
    seed: int = 0


def parse_controls(text: str) -> tuple[str, ...]:
    """Return the controls in ``A,B`` or ``all``. Raises RequestError for an unknown one."""
    if text.strip() == "all":
        return tuple(NAMES.values())
    words = list(dict.fromkeys(word.strip() for word in text.split(",")))
    for word in words:
        if word not in NAMES:
            raise RequestError(f"--controls {word}: no such control{near_misses(word, NAMES)}")
    return tuple(NAMES[word] for word in words)


def control_questions(questions: Sequence[Question], rows: Sequence[Row], request: ControlRequest
                      ) -> tuple[list[Question], dict[str, int]]:
    """Return the control questions, and for each control how many questions lack it.

    A question lacks a control if no other clip shows what it needs: the same performance by the
    same person from the same side on a blank background, as dots, or without the person.
    """
    rows_by_id = {row.sample_id: row for row in rows}
    aspects = _SingleAspectClips(rows)
    made: list[Question] = []
    missing = dict.fromkeys(request.names, 0)
    for question in questions:
        shown = [rows_by_id[clip.sample_id] for clip in question.shown]
        for name in request.names:
            found = [*_changed_fields(name, question, shown, aspects, request)]
            missing[name] += not found
            made += [_control(question, name, changes) for changes in found]
    return made, missing


def _control(question: Question, name: str, changes: Changes) -> Question:
    identity = content_key("control", name, question.question_id, changes.get("frames"))[:16]
    return question.model_copy(update={
        **changes, "control": name, "control_of": question.question_id, "question_id": identity,
        "examples": []})


def _changed_fields(name: str, question: Question, shown: Sequence[Row],
                    aspects: "_SingleAspectClips",
                    request: ControlRequest) -> Iterator[Changes]:
    """Yield the fields that differ in the questions of a control; nothing if it cannot be asked.

    Of several clips, the same control is applied to each, and only those that drop or reorder
    frames. Questions about whether a clip plays backwards get no reversed control, because it would
    show the other half of the pair.
    """
    row, *further = shown
    if name == TEXT:
        yield {"condition": "text", "frames": []}
    elif name == REVERSED and question.asks == PLAYED:
        return
    elif name in _OF_FRAMES:
        for frames, *rest in zip(*(_frames(name, one, request) for one in shown), strict=False):
            yield {"frames": frames, "sampling": request.sampling_text,
                   "window": request.sampling.window(row.frames, row.fps),
                   "further": [clip.model_copy(update={"frames": own})
                               for clip, own in zip(question.further, rest, strict=True)]}
    elif not further and (other := aspects.showing(name, row)) is not None:
        frames = request.sampling.frames(other.frames, other.fps)
        yield {"sample_id": other.sample_id, "file_name": other.file_name, "frames": frames,
               "clip": opaque_name(other, request.seed), "sampling": request.sampling_text}


def _frames(name: str, row: Row, request: ControlRequest) -> Iterator[list[int]]:
    sampled = request.sampling.frames(row.frames, row.fps)
    return _OF_FRAMES[name](sampled, row, request.seed)


def _single(frames: list[int], row: Row, seed: int) -> Iterator[list[int]]:
    count = min(POSITIONS, len(frames))
    for part in range(count):
        yield [frames[int((part + 0.5) * len(frames) / count)]]


def _shuffled(frames: list[int], row: Row, seed: int) -> Iterator[list[int]]:
    """Yield the frames in a random order that is neither the original nor its reverse."""
    if len(frames) < 3:
        return
    draw = generator(seed, "shuffled", row.sample_id)
    while True:
        order = [frames[int(place)] for place in draw.permutation(len(frames))]
        if order not in (frames, frames[::-1]):
            yield order
            return


def _reversed(frames: list[int], row: Row, seed: int) -> Iterator[list[int]]:
    if len(frames) > 1:
        yield frames[::-1]


_OF_FRAMES: dict[str, Callable[[list[int], Row, int], Iterator[list[int]]]] = {
    FRAME: _single, SHUFFLED: _shuffled, REVERSED: _reversed}


class _SingleAspectClips:
    """The clips that show a single aspect of a performance: person, dots or background."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._found: dict[tuple[Any, ...], Row] = {}
        for row in sorted(rows, key=lambda row: row.sample_id):
            kind = _only_aspect(row)
            if kind is not None:
                self._found.setdefault((kind, *performance_of(row), *_fields_to_match(kind, row)),
                                       row)

    def showing(self, kind: str, row: Row) -> Row | None:
        """Return the clip that shows only one aspect of a row's clip; None if there is none."""
        found = self._found.get((kind, *performance_of(row), *_fields_to_match(kind, row)))
        return None if found is None or found.sample_id == row.sample_id else found


def _only_aspect(row: Row) -> str | None:
    """Return the control that a clip can serve as; None if it shows several aspects."""
    if row.type == "pointlight":
        return None if row.parts_performers else DOTS
    if row.shows_nobody:
        return BACKGROUND
    return PERSON if row.background_config == "blank" else None


def _fields_to_match(kind: str, row: Row) -> tuple[Any, ...]:
    """Return the fields in which two clips must agree besides the performance."""
    angle = None if row.angle is None else float(row.angle) % 360
    if kind == DOTS:
        return (angle,)
    if kind == PERSON:
        return angle, row.avatar, row.partner_avatar, row.render_config_name
    return angle, row.background_name, row.set_seed, row.render_config_name
