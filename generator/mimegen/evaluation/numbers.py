"""Questions with a number as answer: how often, when and how long, from rows' timelines.

How long people look at something is from the keypoints of clips.

An answer is right within the question's tolerance: none for counts; for times, half a second or a
fifth of the answer, whichever is larger, because people who watch a clip once are no more precise.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.evaluation.counting import has_certain_number, is_distinct
from mimegen.evaluation.looking import GazeTrack
from mimegen.evaluation.looking_questions import gaze_times, gaze_tracks
from mimegen.evaluation.making import clip_fields, versions
from mimegen.evaluation.question import Question, named_by_content
from mimegen.evaluation.reading import final_phrase
from mimegen.evaluation.sampling import FrameSampling, refuse_part
from mimegen.evaluation.subjects import known_actions, subject_of_row
from mimegen.evaluation.templates import FOLDER, OpenPrompt
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import PARTNER, Interval

# In seconds. A step that occurs once is counted only if it is no longer than this; viewers might
# count the parts of longer ones.
MOMENT_S = 1.0
# In seconds. Starts within this of the beginning, and ends within this of the end, are not asked
# about, because they could be guessed.
EDGE_S = 0.75
LEAST_DURATION_S = 1.0
TOLERANCE_S = 0.5
TOLERANCE_SHARE = 0.2
COUNT, START, DURATION, GAZE = "count", "start", "duration", "gaze"
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
         "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
         "nineteen")
TENS = {word: 10.0 * value for value, word in enumerate(
    ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2)}
MULTIPLES = {"once": 1.0, "twice": 2.0, "thrice": 3.0}
VALUES = MULTIPLES | TENS | {word: float(value) for value, word in enumerate(WORDS)}
_UNITS = "|".join(WORDS[1:10])
_NUMBER = re.compile(
    rf"(?<![\w.])\d{{1,9}}(?:[.,]\d{{1,9}})?(?![\d])"
    rf"|\b(?:{'|'.join(TENS)})[- ](?:{_UNITS})\b|\b(?:{'|'.join(VALUES)})\b", re.IGNORECASE)
# Words that make another number of those beside them; answers with them are not read.
_LARGER = re.compile(r"\b(?:hundreds?|thousands?|dozens?|half|halves|quarters?|thirds?)\b",
                     re.IGNORECASE)
# Answers that state no number though one is in them: refusals, nobody, and numbers below zero,
# which models write if they see nothing.
_NONE = re.compile(r"\b(?:cannot|can['\u2019]t|unable|(?:im|not )possible|no one|minus)\b"
                   r"|(?<![\w)])-\d", re.IGNORECASE)


class NumberWording(Strict):
    """Questions by what they ask, and other wording.

    ``people`` are the words for a person alone, the left one of two and the right one; ``targets``
    those for the camera, the other person and their hands.
    """

    about: str
    instruction: OpenPrompt
    questions: dict[str, str]
    people: list[str] = Field(default=[], max_length=3)
    targets: list[str] = Field(default=[], max_length=3)


@dataclass(frozen=True)
class _NumberAsk:
    """What is asked; ``words`` are filled into its question."""

    kind: str
    words: dict[str, str]
    answer: float


def read_number_wording(file: Path | None) -> NumberWording:
    """Return a user's wording, or mimegen's. Raises RequestError as ``read_yaml`` does."""
    return read_yaml(file or FOLDER / "numbers.yaml", NumberWording)


def number_questions(rows: Sequence[Row], wording: NumberWording, seed: int,
                     sampling: FrameSampling | None = None, sampling_text: str = "video",
                     folder: Path | None = None) -> list[Question]:
    """Return the questions that clips allow, in an order that reveals nothing.

    Questions about steps need rows with a timeline and one performer; questions about gaze need
    clips in ``folder`` with keypoints. Raises RequestError if there are neither.
    """
    refuse_part(sampling, sampling_text, "numbers")
    timed = [row for row in rows if row.timeline and row.partner_avatar is None]
    looking = gaze_tracks(folder, rows) if folder and _words_gaze(wording) else []
    if not timed and not looking:
        raise RequestError("no row of one performer has a timeline, and no clip has keypoints;"
                           " choreographed takes have a timeline: render such a take")
    asked = [(row, ask) for row in timed for ask in _asks(row.timeline or (),
                                                          row.frames / row.fps)]
    asked += [(row, ask) for row, one in looking for ask in _gaze_asks(row, one, wording)]
    known = known_actions()
    made = []
    for row, ask in asked:
        subject = subject_of_row(row, known, "label")
        question = wording.questions[ask.kind]
        for name, text in ask.words.items():
            question = question.replace(f"{{{name}}}", text)
        answer = f"{ask.answer:g}"
        made.append(Question(
            **clip_fields(row, seed), format="number", asks=ask.kind, category=ask.kind,
            question_id=content_key("number", seed, row.sample_id, question)[:16],
            prompt=wording.instruction.replace("{question}", question), question=question,
            answer=answer, labels=[answer], tolerance=_tolerance(ask),
            semantic_group=subject.group, performance=subject.name,
            window=[0, row.frames / row.fps], sampling=sampling_text,
            frames=sampling.frames(row.frames, row.fps) if sampling else None,
            versions=versions(wording.about)))
    return named_by_content(made)


def _words_gaze(wording: NumberWording) -> bool:
    """Return whether a wording, perhaps written for an earlier version, asks about gaze."""
    return GAZE in wording.questions and len(wording.people) == len(wording.targets) == 3


def _gaze_asks(row: Row, looking: GazeTrack, wording: NumberWording) -> Iterator[_NumberAsk]:
    """Yield how long people look at targets, if that is known precisely enough."""
    for one in gaze_times(looking):
        ask = _NumberAsk(GAZE, {"who": wording.people[one.side],
                                "target": wording.targets[one.target]}, round(one.seconds, 1))
        lasts = LEAST_DURATION_S <= one.seconds <= row.frames / row.fps - EDGE_S
        # The true value must be known within half the tolerance of answers.
        if lasts and one.unsure_s <= _tolerance(ask) / 2:
            yield ask


def _asks(timeline: Sequence[Interval], end: float) -> Iterator[_NumberAsk]:
    """Yield counts, starts and durations of steps that a timeline of ``end`` seconds allows."""
    steps = [one for one in timeline if one.kind == "step" and one.performer != PARTNER]
    counts = Counter(one.name for one in steps)
    for step, count in counts.items():
        if not is_distinct(step, counts):
            continue
        own = [one for one in steps if one.name == step]
        longest = max(one.end_s - one.start_s for one in own)
        # Brief or repeated steps are counted; only a long step that occurs once has one start to
        # name.
        if count > 1 or longest <= MOMENT_S:
            if has_certain_number(step, counts):
                yield _NumberAsk(COUNT, {"step": step}, count)
        elif own[0].start_s >= EDGE_S:
            yield _NumberAsk(START, {"step": step}, round(float(own[0].start_s), 1))
        if count == 1 and longest >= LEAST_DURATION_S and own[0].end_s <= end - EDGE_S:
            yield _NumberAsk(DURATION, {"step": step}, round(float(longest), 1))


def _tolerance(ask: _NumberAsk) -> float:
    return 0.0 if ask.kind == COUNT else max(TOLERANCE_S, TOLERANCE_SHARE * ask.answer)


def read_number(output: str) -> float | None:
    """Return the only number in an output's final phrase; None if it has none, or several.

    Digits, number words below a hundred, and once, twice and thrice count as numbers. Fractions in
    words are not read, and neither are refusals.
    """
    phrase = final_phrase(output)
    if _LARGER.search(phrase) or _NONE.search(phrase):
        return None
    found = {_value(text) for text in _NUMBER.findall(phrase)}
    return found.pop() if len(found) == 1 else None


def _value(text: str) -> float:
    if text[0].isdigit():
        return float(text.replace(",", "."))
    return sum(VALUES[word] for word in re.split("[- ]", text.lower()))


def is_right(question: Question, number: float | None) -> bool:
    """A margin for rounding."""
    # The small margin allows for rounding, since answers are rounded.
    return number is not None and question.tolerance is not None and (
        abs(number - float(question.answer)) <= question.tolerance + 1e-9)
