"""Questions about nonverbal cues, as in ObservableToM: about 4 s around a cue's peak."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.base.seeds import generator
from mimegen.base.yaml_file import read_yaml
from mimegen.evaluation.distractors import Distractor, Rules, chosen_distractors
from mimegen.evaluation.making import clip_fields, versions
from mimegen.evaluation.question import Question, named_by_content
from mimegen.evaluation.sampling import FrameSampling
from mimegen.evaluation.subjects import (
    KnownAction,
    Subject,
    known_actions,
    subject_of_row,
    unique,
)
from mimegen.evaluation.templates import FOLDER, Templates, lettered
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import CueFacts, Interval

# Seconds on each side of a cue's peak that a question shows, and frames per second.
HALF_WINDOW_S = 2.0
WINDOW_FPS = 8.0
CONDITIONS = ("video", "text", "both")
TASKS = ("cue", "explanation", "validity")


class CueWording(Templates):
    """Templates by task and condition, with ``{context}``, ``{cue}`` and ``{explanation}``.

    ``no_clue`` is the correct option if a situation makes the cue meaningless. ``validity`` holds
    the other two options about an explanation: that it explains the cue, and that it does not.
    """

    no_clue: str
    validity: tuple[str, str]


def read_cue_wording(file: Path | None) -> CueWording:
    """Return a user's wording, or mimegen's. Raises RequestError as ``read_yaml`` does."""
    return read_yaml(file or FOLDER / "observabletom.yaml", CueWording)


@dataclass(frozen=True)
class CueRequest:
    """The task and its condition: see ``mimegen questions --help``."""

    task: str
    condition: str
    wording: CueWording
    seed: int = 0


@dataclass(frozen=True)
class SeenCue:
    """A cue in a performance, and the clips that show it."""

    subject: Subject
    cue: Interval
    facts: CueFacts
    rows: tuple[Row, ...]

    @property
    def situations(self) -> tuple[str | None, str | None]:
        """One situation in which the cue has its meaning and one in which it has none, or None."""
        valid, invalid = self.facts.means_in, self.facts.means_nothing_in
        return valid[0] if valid else None, invalid[0] if invalid else None


@dataclass(frozen=True)
class PosedCue:
    """A question about a cue, before it is worded."""

    seen: SeenCue
    answer: str
    options: tuple[str, ...]
    context: str | None = None
    explanation: str = ""
    wrong: tuple[Distractor, ...] = ()


def cue_questions(rows: Sequence[Row], request: CueRequest) -> list[Question]:
    """Return the questions of one task about all rows that show a cue.

    Raises RequestError if no row shows a cue, or none has what the task needs.
    """
    seen = _seen(rows, request)
    if not seen:
        raise RequestError("no row shows a cue; render an action whose action.yaml has cue: and"
                           " whose take has a .timeline.yaml")
    posed = [*_POSED[request.task](seen, request)]
    if not posed:
        raise RequestError(f"--asks {request.task}: no cue of these rows has both means_in and"
                           " means_nothing_in; add them to its action.yaml and render again")
    shuffled = _shuffled(posed, request)
    return named_by_content(_question(row, one, request) for one in shuffled
                            for row in one.seen.rows)


def _seen(rows: Sequence[Row], request: CueRequest) -> list[SeenCue]:
    """Return the first cue of each performance with its clips, in the order of names."""
    known = known_actions()
    found: dict[str, SeenCue] = {}
    for row in sorted(rows, key=lambda row: row.sample_id):
        for cue in row.timeline or ():
            if cue.kind == "cue" and cue.cue is not None:
                subject = _subject(row, cue.name, cue.cue, known, request)
                one = found.get(subject.name) or SeenCue(subject, cue, cue.cue, ())
                found[subject.name] = replace(one, rows=(*one.rows, row))
                break
    return [found[name] for name in sorted(found)]


def _subject(row: Row, name: str, facts: CueFacts, known: dict[str, KnownAction],
             request: CueRequest) -> Subject:
    """Return a cue as a subject.

    Cues of one body region, or with a common meaning, are never each other's wrong answers.
    """
    text = name if request.task == "cue" else facts.explanations[0]
    return Subject(row.action, subject_of_row(row, known, "label").name, text,
                   frozenset({name, *facts.explanations}), facts.region)


def _of_cues(seen: Sequence[SeenCue], request: CueRequest) -> Iterator[PosedCue]:
    for one, wrong in _with_wrong(seen, 4, request):
        yield PosedCue(one, one.subject.text, (one.subject.text, *_texts(wrong)),
                       explanation=one.facts.explanations[0], wrong=wrong)


def _of_explanations(seen: Sequence[SeenCue], request: CueRequest) -> Iterator[PosedCue]:
    """Yield three questions with a meaningful situation for each one with a meaningless situation.

    So each of the four options, ``No clue`` included, is right equally often.
    """
    usable = [one for one in seen if all(one.situations)]
    blocks: dict[frozenset[str], list[PosedCue]] = defaultdict(list)
    for one, wrong in _with_wrong(usable, 3, request):
        options = one.subject.text, *_texts(wrong), request.wording.no_clue
        posed = PosedCue(one, one.subject.text, options, one.situations[0], wrong=wrong)
        blocks[frozenset(options)].append(posed)
    alone = [posed for block in blocks.values() if len(block) < 3 for posed in block]
    whole = [block for block in blocks.values() if len(block) >= 3]
    draw = generator(request.seed, "no clue")
    for block in [*whole, *(alone[at:at + 3] for at in range(0, len(alone), 3))]:
        yield from block
        for _ in range(len(block) // 3):
            chosen = block[int(draw.integers(len(block)))]
            yield replace(chosen, answer=request.wording.no_clue, context=chosen.seen.situations[1])


def _of_validity(seen: Sequence[SeenCue], request: CueRequest) -> Iterator[PosedCue]:
    """Yield three questions for each cue, one for each option.

    They show the cue's own explanation, another cue's, and its own in a situation where the cue
    means nothing. Each explanation is a wrong one exactly once, so no text reveals what is right.
    """
    usable = [one for one in seen if all(one.situations)]
    valid, invalid = request.wording.validity
    options = valid, invalid, request.wording.no_clue
    for one, wrong in _with_wrong(usable, 2, request):
        means, means_nothing = one.situations
        for answer, context, text in ((valid, means, one.subject.text),
                                      (invalid, means, wrong[0].text),
                                      (request.wording.no_clue, means_nothing, one.subject.text)):
            yield PosedCue(one, answer, options, context, text)


_POSED = {"cue": _of_cues, "explanation": _of_explanations, "validity": _of_validity}


def _with_wrong(seen: Sequence[SeenCue], options: int, request: CueRequest
                ) -> list[tuple[SeenCue, tuple[Distractor, ...]]]:
    """Return cues with wrong answers that are far in meaning, as in ObservableToM."""
    rules = Rules(options, "far", bar_nearest=False)
    found = chosen_distractors(unique(one.subject for one in seen), [], rules, request.seed)
    return [(one, found[one.subject.name]) for one in seen]


def _texts(wrong: Sequence[Distractor]) -> list[str]:
    return [one.text for one in wrong]


def _shuffled(posed: Sequence[PosedCue], request: CueRequest) -> list[PosedCue]:
    """Return questions with the answer in each position equally often; validity keeps its order."""
    if request.task == "validity":
        return [*posed]
    draw, count = generator(request.seed, "cue", request.task), len(posed[0].options)
    places = draw.permutation(len(posed)) % count
    shuffled = []
    for one, place in zip(posed, places, strict=True):
        others = [text for text in one.options if text != one.answer]
        order = [others[other] for other in draw.permutation(count - 1)]
        order.insert(int(place), one.answer)
        shuffled.append(replace(one, options=tuple(order)))
    return shuffled


def _question(row: Row, posed: PosedCue, request: CueRequest) -> Question:
    seen, sampling = posed.seen, _window(row, posed.seen.cue.name)
    wording = request.wording.wording("cue", request.task, request.condition)
    prompt = wording
    for word, text in (("context", posed.context or ""), ("cue", seen.cue.name),
                       ("explanation", posed.explanation),
                       ("options", lettered(posed.options))):
        prompt = prompt.replace(f"{{{word}}}", text)
    identity = ("cue", request.task, request.condition, request.seed, row.sample_id, posed.answer)
    wrong = [text for text in posed.options if text != posed.answer]
    explanation = posed.explanation if request.task == "validity" else None
    return Question(
        **clip_fields(row, request.seed), question_id=content_key(*identity)[:16], format="cue",
        prompting=request.condition, condition=request.condition, asks=request.task,
        category=request.task, aspect=seen.facts.region, prompt=prompt, options=[*posed.options],
        answer=posed.answer, labels=[posed.answer], semantic_group=seen.subject.group,
        performance=" ".join(filter(None, [seen.subject.name, str(posed.context), explanation])),
        window=sampling.window(row.frames, row.fps),
        sampling=f"window:{sampling.numbers[0]:g}:{sampling.numbers[1]:g}:{WINDOW_FPS:g}",
        frames=[] if request.condition == "text" else sampling.frames(row.frames, row.fps),
        order=[0 if text == posed.answer else 1 + wrong.index(text) for text in posed.options],
        distractors=[vars(one) for one in posed.wrong], versions=versions(request.wording.about))


def _window(row: Row, cue: str) -> FrameSampling:
    """Return the sampling of 8 frames per second in the 4 s around the cue's peak."""
    [found, *_] = [one for one in row.timeline or () if one.kind == "cue" and one.name == cue]
    peak = found.peak_s if found.peak_s is not None else (found.start_s + found.end_s) / 2
    start = max(float(peak) - HALF_WINDOW_S, 0.0)
    return FrameSampling("window", (round(start, 3), round(float(peak) + HALF_WINDOW_S, 3),
                                     WINDOW_FPS))
