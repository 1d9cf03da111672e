"""Make questions from rows with timelines; answers are balanced, so options reveal nothing."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.base.paths import data_files
from mimegen.base.seeds import generator
from mimegen.base.yaml_file import YamlFile
from mimegen.evaluation.distractors import Distractor, Rules, chosen_distractors
from mimegen.evaluation.making import clip_fields, versions
from mimegen.evaluation.question import Question, named_by_content
from mimegen.evaluation.sampling import FrameSampling, refuse_part
from mimegen.evaluation.subjects import (
    KnownAction,
    Subject,
    known_actions,
    subject_of_action,
    subject_of_row,
    unique,
)
from mimegen.evaluation.templates import lettered
from mimegen.evaluation.timeline.asks import Ask, AskWording, asks_of
from mimegen.evaluation.timeline.wording import TimelineWording
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import PERFORMER

OPTIONS = 4


@dataclass(frozen=True)
class TimelineRequest:
    """How to ask about timelines: see ``mimegen questions --help``."""

    prompting: str
    wording: TimelineWording
    seed: int = 0
    sampling: FrameSampling | None = None
    sampling_text: str = "video"
    condition: str = "video"

    @property
    def is_open(self) -> bool:
        """Whether no options are offered."""
        return self.prompting == "open"


@dataclass(frozen=True)
class Shown:
    """Clips of one performance that share a timeline, and the questions about all of them."""

    name: str
    rows: tuple[Row, ...]
    asks: tuple[Ask, ...]


@dataclass(frozen=True)
class PosedAsk:
    """A question about some clips, with its options; ``wrong`` are the drawn distractors."""

    shown: Shown
    ask: Ask
    answer: str
    options: tuple[str, ...]
    wrong: tuple[Distractor, ...]


def timeline_questions(rows: Sequence[Row], request: TimelineRequest
                       ) -> tuple[list[Question], dict[str, int]]:
    """Return the questions that rows with timelines allow, in an order that reveals nothing.

    Also return, by aspect, how many questions were left out so that each of its choices is the
    answer equally often. Raises RequestError if no row has a timeline.
    """
    refuse_part(request.sampling, request.sampling_text, "timelines")
    timed = [row for row in rows if row.timeline]
    if not timed:
        raise RequestError("no row has a timeline: choreographed takes have one, motion capture and"
                           " rows of older versions do not; render such a take")
    shown, left_out = _evened(_shown(timed, request), request)
    made = [_question(row, posed, request) for posed in _posed(shown, request)
            for row in posed.shown.rows]
    return named_by_content(made), left_out


def _shown(rows: Sequence[Row], request: TimelineRequest) -> list[Shown]:
    """Return the performances with all questions that they allow."""
    known = known_actions()
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.sample_id):
        intervals = [one.model_dump(mode="json") for one in row.timeline or ()]
        name = subject_of_row(row, known, "label").name
        groups[f"{name} {content_key(intervals)[:8]}"].append(row)
    return [Shown(name, tuple(own), tuple(_asks(name, own[0], known, request)))
            for name, own in sorted(groups.items())]


def _asks(name: str, row: Row, known: dict[str, KnownAction], request: TimelineRequest
          ) -> list[Ask]:
    """Return the questions that one performance allows, including its intention if known."""
    subject = replace(subject_of_row(row, known, "label"), name=name)
    wording = request.wording
    words = AskWording(wording.nothing, wording.whereabouts.holds, wording.whereabouts.lies)
    asks = [*asks_of(row.timeline or (), subject, words)]
    action = known.get(row.action)
    if row.intentions or (action and action.intentions):
        wish = replace(subject_of_row(row, known, "intention"), name=name)
        asks.append(Ask("intention", wish.text, (0.0, row.frames / row.fps), subject=wish))
    return [ask for ask in asks if not (request.is_open and ask.aspect in
                                        request.wording.not_open)]


def _evened(shown: Sequence[Shown], request: TimelineRequest
            ) -> tuple[list[Shown], dict[str, int]]:
    """Drop questions until each choice of an aspect is the answer equally often."""
    choices = request.wording.choices
    kept = {one.name: [ask for ask in one.asks if ask.aspect not in choices] for one in shown}
    left_out = {}
    for aspect, texts in choices.items():
        asks = [(one.name, ask) for one in shown for ask in one.asks if ask.aspect == aspect]
        drawn = generator(request.seed, "evened", aspect).permutation(len(asks))
        spread = _spread([asks[place] for place in drawn])
        answers = [[one for one in spread if one[1].answer == place]
                   for place in range(len(texts))]
        least = min(map(len, answers))
        for name, ask in (one for right in answers for one in right[:least]):
            kept[name].append(ask)
        left_out[aspect] = len(asks) - least * len(texts)
    return [replace(one, asks=tuple(kept[one.name])) for one in shown], left_out


def _spread(asks: Sequence[tuple[str, Ask]]) -> list[tuple[str, Ask]]:
    """Return questions in rounds: for each answer, every performance occurs once per round."""
    turn: dict[tuple[str, int | str], int] = defaultdict(int)
    turns = []
    for number, (name, ask) in enumerate(asks):
        turn[name, ask.answer] += 1
        turns.append((turn[name, ask.answer], number))
    return [asks[number] for _, number in sorted(turns)]


def _posed(shown: Sequence[Shown], request: TimelineRequest) -> list[PosedAsk]:
    """Return all questions with options; options without a fixed order are shuffled.

    The answer is in each position equally often.
    """
    distractors = _distractors(shown, request.seed)
    found = [_offered(one, ask, distractors, request) for one in shown for ask in one.asks]
    kinds: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, posed in enumerate(found):
        if posed.ask.aspect not in request.wording.choices:
            kinds[posed.ask.aspect, len(posed.options)].append(number)
    for (aspect, count), numbers in sorted(kinds.items()):
        draw = generator(request.seed, "timeline", aspect, count)
        places = draw.permutation(len(numbers)) % count
        for number, place in zip(numbers, places, strict=True):
            posed = found[number]
            others = [text for text in posed.options if text != posed.answer]
            order = [others[one] for one in draw.permutation(count - 1)]
            order.insert(int(place), posed.answer)
            found[number] = replace(posed, options=tuple(order))
    return found


def _offered(shown: Shown, ask: Ask, distractors: dict[str, tuple[Distractor, ...]],
             request: TimelineRequest) -> PosedAsk:
    """Return a question with its answer as text and its options, not yet shuffled."""
    choices = request.wording.choices.get(ask.aspect, ())
    answer = choices[ask.answer] if isinstance(ask.answer, int) else ask.answer
    wrong = distractors[ask.subject.name] if ask.subject else ()
    offered = (answer, *(one.text for one in wrong)) if wrong else ask.options or choices
    return PosedAsk(shown, ask, answer, tuple(offered), wrong)


def _distractors(shown: Sequence[Shown], seed: int) -> dict[str, tuple[Distractor, ...]]:
    """Return wrong answers by subject: objects for objects, intentions for intentions."""
    found: dict[str, tuple[Distractor, ...]] = {}
    for aspect, library in (("thing", _library_things()), ("intention", _library_intentions())):
        subjects = unique(ask.subject for one in shown for ask in one.asks
                          if ask.aspect == aspect and ask.subject is not None)
        if subjects:
            rules = Rules(OPTIONS, bar_nearest=aspect == "thing")
            found |= chosen_distractors(subjects, library, rules, seed)
    return found


def _library_things() -> list[Subject]:
    """Return the objects that the library's takes hold."""
    known = known_actions()
    found: dict[str, Subject] = {}
    for file in data_files("mocap/*/*.timeline.yaml"):
        action = known.get(file.parent.name)
        for thing in YamlFile(file).content.get("things") or {}:
            found[thing] = Subject(file.parent.name, f"library#{thing}", thing, frozenset({thing}),
                                   action.semantic_group if action else None)
    return [found[thing] for thing in sorted(found)]


def _library_intentions() -> list[Subject]:
    return [found for action in known_actions().values()
            if (found := subject_of_action(action, "intention"))]


def _question(row: Row, posed: PosedAsk, request: TimelineRequest) -> Question:
    ask, wording, sampling = posed.ask, request.wording, request.sampling
    sentence = _sentence(ask, request)
    prompt = wording.wording("timeline", "label", request.prompting).replace(
        "{question}", sentence).replace("{frames}", _frames(row, request)).replace(
        "{options}", lettered(posed.options))
    identity = ("timeline", request.prompting, request.condition, request.seed, row.sample_id,
                sentence)
    frames = sampling.frames(row.frames, row.fps) if sampling else None
    options = [] if request.is_open else [*posed.options]
    wrong = [text for text in posed.options if text != posed.answer]
    return Question(
        **clip_fields(row, request.seed), question_id=content_key(*identity)[:16],
        format="timeline", prompting=request.prompting, prompt=prompt, options=options,
        answer=posed.answer, labels=[posed.answer], semantic_group=row.semantic_group,
        performance=f"{posed.shown.name} {sentence}", question=sentence, aspect=ask.aspect,
        category=wording.categories[ask.aspect],
        window=[round(moment, 2) for moment in ask.span], sampling=request.sampling_text,
        frames=[] if request.condition == "text" else frames, condition=request.condition,
        order=[0 if text == posed.answer else 1 + wrong.index(text) for text in options],
        distractors=[vars(one) for one in posed.wrong], versions=versions(wording.about))


def _sentence(ask: Ask, request: TimelineRequest) -> str:
    """Return the question as text, with times rounded to tenths of a second."""
    wording, words = request.wording, dict(ask.words)
    if "who" in words:
        words["who"] = "the person" if words["who"] == PERFORMER else "the other person"
    if "place" in words:
        words["place"] = wording.places[int(words["place"])]
    words |= {"start": f"{ask.span[0]:.1f}", "end": f"{ask.span[1]:.1f}"}
    return wording.sentences[ask.aspect].format(**words)


def _frames(row: Row, request: TimelineRequest) -> str:
    """Return the words that list the frames shown; empty if the video is shown."""
    if request.sampling is None:
        return ""
    frames = request.sampling.frames(row.frames, row.fps)
    times = ", ".join(f"{frame / row.fps:.2f}s" for frame in frames)
    return request.wording.frames.replace("{video_time}", f"{row.frames / row.fps:.2f}s").replace(
        "{num_frames}", str(len(frames))).replace("{frame_time}", times)
