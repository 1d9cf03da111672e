"""Questions about movement that need ground truth, from the keypoints of clips.

``movement`` computes the right choice. The choices of a probe are right equally often, so that no
answer is likelier than another.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import content_key
from mimegen.base.seeds import generator
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.evaluation.looking_questions import (
    GAZE_TARGET,
    AskedGaze,
    drawn_choices,
    gaze_tracks,
    gazes_to_ask,
    question_key,
)
from mimegen.evaluation.making import clip_fields, versions
from mimegen.evaluation.movement import FACE, LIMITS, PROBES, THIRDS, Movement
from mimegen.evaluation.question import Question, named_by_content
from mimegen.evaluation.sampling import FrameSampling
from mimegen.evaluation.subjects import KnownAction, known_actions, subject_of_row
from mimegen.evaluation.templates import FOLDER, ChoicePrompt, OpenPrompt, filled
from mimegen.manifest.pair import ONE, SEVERAL
from mimegen.manifest.row import Row

HANDS = ("left_wrist", "left_middle1", "right_wrist", "right_middle1")
HIPS = ("left_hip", "right_hip")
EYES = ("left_eye", "right_eye")
# Landmarks that must be in the picture, so that viewers can tell; of all other probes, the hands.
NEEDED = {"travel": HIPS, "turn": HIPS, "distance": HIPS, "lowest": EYES, "hand_to_face": FACE,
          "head_turn": (*HIPS, "nose"), "reach": (*HANDS, *HIPS, *EYES),
          "leave_ground": ("left_ankle", "right_ankle")}
# Probes about one moment, and those about what is so in any frame, which a frame must show.
OF_MOMENT = ("higher_hand", "head_turn")
OF_ANY_FRAME = ("hands_touch", "lowest", "reach", "leave_ground", "hand_to_face")
# Probes that the frame at their time answers; all others need several, since what is so at no time
# is in no single frame.
OF_ONE_FRAME = (*OF_MOMENT, GAZE_TARGET)
# All probes of movement and gaze.
NAMES = (*PROBES, GAZE_TARGET)
OPEN = "open"


class ProbeChoices(Strict):
    """A probe's question and choices."""

    question: str
    choices: list[str] = Field(min_length=2)


class ProbeWording(Strict):
    """The prompt with ``{question}`` and ``{options}``, and each probe's wording.

    ``open`` is the prompt without options. ``people`` are the words for a person alone, the left
    one of two and the right one.
    """

    about: str
    instruction: ChoicePrompt
    open: OpenPrompt | None = None
    people: list[str] = Field(default=[], max_length=3)
    probes: dict[str, ProbeChoices]


def read_probe_wording(file: Path | None) -> ProbeWording:
    """Return a user's wording, or mimegen's.

    Raises RequestError as ``read_yaml`` does, and if a probe is missing or has too few choices.
    """
    own = read_yaml(FOLDER / "probes.yaml", ProbeWording)
    wording = read_yaml(file, ProbeWording) if file else own
    for name, probe in own.probes.items():
        found = wording.probes.get(name)
        if found is None or len(found.choices) != len(probe.choices):
            raise RequestError(f"{file}: probes: {name}: expected a question and"
                               f" {len(probe.choices)} choices")
    people = wording.people if len(wording.people) == len(own.people) else own.people
    return wording.model_copy(update={"open": wording.open or own.open, "people": people})


def parse_probes(text: str) -> tuple[str, ...]:
    """Return the probes in ``A,B`` or ``all``. Raises RequestError for an unknown one."""
    if text.strip() == "all":
        return NAMES
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in NAMES:
            raise RequestError(f"--probe {name}: no such probe{near_misses(name, NAMES)}")
    return names


@dataclass(frozen=True)
class _ProbeOfClip:
    """A probe of a clip: the frame that it is about, and the index of the right choice."""

    row: Row
    probe: str
    frame: int
    answer: int


@dataclass(frozen=True)
class ProbeRequest:
    """Which probes to ask, and their wording; with ``is_open``, without options."""

    probes: tuple[str, ...]
    wording: ProbeWording
    seed: int = 0
    sampling: FrameSampling | None = None
    sampling_text: str = "video"
    is_open: bool = False


def probe_questions(folder: Path, rows: Sequence[Row], request: ProbeRequest
                    ) -> tuple[list[Question], dict[str, int]]:
    """Return questions about all clips with keypoints, and how many each probe left out.

    Questions that are too close to call are left out, and those dropped to balance the answers.
    Raises RequestError if no clip has keypoints.
    """
    seed, wording = request.seed, request.wording
    with_points = [row for row in rows if "keypoints" in (row.passes or {})]
    if not with_points:
        raise RequestError(f"{folder}: no clip has keypoints; render them with --passes keypoints")
    movements = {*request.probes} - {GAZE_TARGET}
    bodies = _bodies(folder, with_points) if movements else []
    known = known_actions()
    made: list[Question] = []
    left_out = {}
    for probe in request.probes:
        if probe == GAZE_TARGET:
            looks = gazes_to_ask(gaze_tracks(folder, with_points), seed, request.sampling)
            left_out[probe] = len(with_points) - len({one.row.sample_id for one in looks})
            made += [_look_question(one, known, request) for one in looks]
            continue
        asked = [one for row, body in bodies
                 if (one := _asked(row, body, probe, request)) is not None]
        kept = _balanced(asked, len(wording.probes[probe].choices), seed)
        left_out[probe] = len(bodies) - len(kept)
        made += [_movement_question(one, known, request) for one in kept]
    return named_by_content(made), left_out


def _bodies(folder: Path, rows: Sequence[Row]) -> list[tuple[Row, Movement]]:
    """Return the clips of one person with keypoints; shared files are read once."""
    read: dict[str, Movement] = {}
    found = []
    for row in rows:
        facts = (row.passes or {}).get("keypoints")
        if facts is not None and row.partner_avatar is None:
            if facts.folder not in read:
                read[facts.folder] = Movement.of(folder / facts.folder / "keypoints.npz",
                                                 float(row.fps))
            found.append((row, read[facts.folder]))
    return found


def _asked(row: Row, body: Movement, probe: str, request: ProbeRequest) -> _ProbeOfClip | None:
    """Return a probe of a clip, if what is shown of it can tell.

    Its frame is the same for all variants of a performance.
    """
    frames = len(body.world["left_wrist"])
    shown = request.sampling.frames(frames, row.fps) if request.sampling else [*range(frames)]
    draw = generator(request.seed, "probes", probe, row.action, row.take, row.seed)
    # Not in the first or last tenth, where people often stand still.
    idle = len(shown) // 10
    frame = shown[int(draw.integers(idle, max(len(shown) - idle, idle + 1)))]
    answer = _answer(body, probe, frame, shown, request.sampling)
    return None if answer is None else _ProbeOfClip(row, probe, frame, answer)


def _answer(body: Movement, probe: str, frame: int, shown: Sequence[int],
            sampling: FrameSampling | None) -> int | None:
    """Return the right choice, about the shown part of a clip; None if viewers could not tell."""
    if not body.shows(NEEDED.get(probe, HANDS), frame if probe in OF_MOMENT else None):
        return None
    if probe in OF_MOMENT or sampling is None:
        return PROBES[probe](body, frame)
    # Part of the clip, with the frames between the shown ones: how fast hands are needs these.
    part = body.of_frames(range(shown[0], shown[-1] + 1)) if sampling.is_part else body
    if len(shown) < THIRDS or len(part.world["nose"]) < round(LIMITS.hand_s * body.fps) + THIRDS:
        return None
    answer = PROBES[probe](part, 0)
    seen = PROBES[probe](body.of_frames(shown), 0) if probe in OF_ANY_FRAME else answer
    return answer if seen == answer else None


def _balanced(asked: Sequence[_ProbeOfClip], choices: int, seed: int) -> list[_ProbeOfClip]:
    """Return equally many questions for each answer, drawn by seed; empty if a choice is missing.
    """
    by_answer: dict[int, list[_ProbeOfClip]] = defaultdict(list)
    for one in sorted(asked, key=lambda one: one.row.sample_id):
        by_answer[one.answer].append(one)
    if len(by_answer) < choices:
        return []
    # Each choice as often as the rarest.
    least = min(map(len, by_answer.values()))
    return [own[int(place)] for answer, own in sorted(by_answer.items())
            for place in generator(seed, "probes", own[0].probe, "balance", answer).permutation(
                len(own))[:least]]


def _movement_question(one: _ProbeOfClip, known: dict[str, KnownAction], request: ProbeRequest
                       ) -> Question:
    """Return a question about a movement, with its choices in a drawn order."""
    row, words = one.row, request.wording.probes[one.probe]
    order = [int(place) for place in generator(
        request.seed, "probes", one.probe, "order", row.sample_id).permutation(len(words.choices))]
    sentence = words.question.replace("{time}", f"{one.frame / row.fps:.1f}")
    return _question(_Posed(
        row, one.probe, content_key("probe", one.probe, request.seed, row.sample_id)[:16], sentence,
        [words.choices[place] for place in order], words.choices[one.answer]), known, request)


def _look_question(one: AskedGaze, known: dict[str, KnownAction], request: ProbeRequest
                   ) -> Question:
    """Return a question about where a person looks, with its choices in a drawn order."""
    row, words = one.row, request.wording.probes[GAZE_TARGET]
    sentence = words.question
    for name, text in (("who", request.wording.people[one.side]),
                       ("start", f"{one.look.start / row.fps:.1f}"),
                       ("end", f"{one.look.end / row.fps:.1f}")):
        sentence = sentence.replace(f"{{{name}}}", text)
    options = [words.choices[target] for target in drawn_choices(one, request.seed)]
    return _question(_Posed(row, GAZE_TARGET, question_key(one, request.seed), sentence, options,
                            words.choices[one.look.target]), known, request)


@dataclass(frozen=True)
class _Posed:
    """A worded question; ``options`` are in the order in which they are offered."""

    row: Row
    probe: str
    key: str
    sentence: str
    options: list[str]
    answer: str


def _question(one: _Posed, known: dict[str, KnownAction], request: ProbeRequest) -> Question:
    """Return the question model of a worded question; an open one has no options."""
    row, sampling, wording = one.row, request.sampling, request.wording
    subject = subject_of_row(row, known, "label")
    template = wording.open or "{question}" if request.is_open else wording.instruction
    how: dict[str, Any] = {"options": one.options, "question_id": one.key}
    if request.is_open:
        wrong = [option for option in one.options if option != one.answer]
        how = {"prompting": OPEN, "question_id": content_key(OPEN, one.key)[:16],
               "contrasts": wrong}
    return Question(
        **clip_fields(row, request.seed), **how, format="probe",
        prompt=filled(template.replace("{question}", one.sentence), one.options),
        question=one.sentence, answer=one.answer, labels=[one.answer], asks=one.probe,
        category=one.probe, needs=ONE if one.probe in OF_ONE_FRAME else SEVERAL,
        semantic_group=subject.group, performance=subject.name,
        window=sampling.window(row.frames, row.fps) if sampling else [0, row.frames / row.fps],
        sampling=request.sampling_text,
        frames=sampling.frames(row.frames, row.fps) if sampling else None,
        order=[], versions=versions(wording.about))
