"""The events of a take and their times, as known for certain from its score and its author.

``<take>.timeline.yaml`` beside a score names the imagined objects and the steps that a viewer can
distinguish, in the score's own seconds. Seeds perform them at other times, more or less often, or
mirrored; this module converts them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import AfterValidator, Field

from mimegen.base.errors import near_misses
from mimegen.base.yaml_file import Strict, YamlFile
from mimegen.choreography.course import ScoreCourse, course_of
from mimegen.choreography.face import utterances
from mimegen.choreography.hands import HANGING
from mimegen.choreography.score import HandKey, Score
from mimegen.choreography.tracks import TimedKey, track_keys
from mimegen.choreography.variation import Rendition, vary
from mimegen.manifest.timeline import (
    PARTNER,
    PERFORMER,
    ROLE,
    SPEECH,
    CueFacts,
    Hand,
    Interval,
    Thing,
    retold,
)

TIMELINE_SUFFIX = ".timeline.yaml"
SIDES: tuple[Hand, Hand] = ("left", "right")
Moment = Annotated[float, Field(ge=0, le=600, allow_inf_nan=False)]
Span = tuple[Moment, Moment]


def _without_sides(text: str) -> str:
    """Return the text. Raises ValueError if it has a side, which is wrong for mirrored takes."""
    if {"left", "right"} & {*text.lower().split()}:
        raise ValueError("is also said of mirrored takes: leave out left and right, and give"
                         f" hand: (got {text!r})")
    return text


Words = Annotated[str, Field(min_length=1), AfterValidator(_without_sides)]


class HeldThing(Strict):
    """An imagined object: its longest side in metres, and when each hand holds it."""

    size_m: float | None = Field(default=None, gt=0, le=50)
    left: Literal["all"] | tuple[Span, ...] = ()
    right: Literal["all"] | tuple[Span, ...] = ()


class TimelineStep(Strict):
    """One step of a performer: what ``who`` ``does``, in the third person, hand and object."""

    start: Moment = Field(alias="from")
    end: Moment = Field(alias="to")
    does: Words
    hand: Hand | None = None
    thing: str | None = None
    who: Literal["performer", "partner"] = PERFORMER


class CueTimes(Strict):
    """The times at which a cue begins, peaks and ends, in seconds."""

    start: Moment = Field(alias="from")
    peak: Moment
    end: Moment = Field(alias="to")
    hand: Hand | None = None
    who: Literal["performer", "partner"] = PERFORMER


class Happenings(Strict):
    """One file ``<take>.timeline.yaml``.

    ``agent`` completes the question "Who ...?" with what the first performer does and the partner
    does not.
    """

    agent: Words | None = None
    things: dict[Words, HeldThing] = Field(default_factory=dict)
    steps: tuple[TimelineStep, ...] = ()
    cue: CueTimes | None = None

    def thing(self, name: str | None) -> Thing | None:
        """Return a named object in the form that manifest rows use; None for None."""
        return None if name is None else Thing(name=name, size_m=self.things[name].size_m)


NOTHING = Happenings()


def happenings_file(score: Score) -> Path:
    """Return the path of a score's timeline; the file need not exist."""
    return Path(score.source).with_name(score.take + TIMELINE_SUFFIX)


def read_happenings(path: Path, score: Score) -> Happenings:
    """Read a ``.timeline.yaml`` file that lies beside a score.

    Raises RequestError with the file, line and key of the first error.
    """
    document = YamlFile(path)
    parsed = document.parsed(Happenings)
    if parsed.agent is not None and score.partner is None:
        raise document.error(("agent",), "the score has no partner")
    for number, step in enumerate(parsed.steps):
        where = ("steps", number)
        if step.thing is not None and step.thing not in parsed.things:
            raise document.error((*where, "thing"), f"unknown thing {step.thing!r}"
                                 f"{near_misses(step.thing, parsed.things)}")
        if step.who == PARTNER and score.partner is None:
            raise document.error((*where, "who"), "the score has no partner")
        _check_span(document, (*where, "to"), (step.start, step.end), score)
    for name, thing in parsed.things.items():
        for side in SIDES:
            for span in _spans(getattr(thing, side), score):
                _check_span(document, ("things", name, side), span, score)
    if parsed.cue is not None:
        _check_span(document, ("cue", "to"), (parsed.cue.start, parsed.cue.end), score)
        if not parsed.cue.start <= parsed.cue.peak <= parsed.cue.end:
            raise document.error(("cue", "peak"), "is outside the cue")
    return parsed


def _check_span(document: YamlFile, where: Sequence[str | int], span: Span, score: Score) -> None:
    start, end = span
    if not start < end <= score.duration:
        raise document.error(where, f"{start:g} to {end:g} s is not a valid span of a score of"
                                    f" {score.duration:g} s")
    for repeat in score.repeat:
        begins = repeat.after <= start < repeat.until
        ends = repeat.after < end <= repeat.until
        if begins != ends and not (start <= repeat.after and end >= repeat.until):
            raise document.error(where, f"{start:g} to {end:g} s cuts into the repeated part,"
                                        f" {repeat.after:g} to {repeat.until:g} s; use a span"
                                        " within it, or one that contains all of it")


def _spans(spans: Literal["all"] | tuple[Span, ...], score: Score) -> tuple[Span, ...]:
    return ((0.0, score.duration),) if spans == "all" else spans


def happenings(score: Score, given: Happenings = NOTHING, seed: int = 0, style: str | None = None,
               cue: tuple[str, CueFacts] | None = None) -> list[Interval]:
    """Return the events of the take that a seed and a style make of a score, in order of time.

    ``cue`` is the name of the action's cue and its facts.

    Times are seconds of the finished motion. Single limbs may be late by about 0.1 s, because of
    the small movements that are added.
    """
    renditions = vary(score, seed, style)
    course = course_of(score, renditions[0])
    found = [Interval(kind="action", name=score.action, start_s=0.0,
                      end_s=round(renditions[0].line.duration, 3)),
             *_role(given, renditions[0].line.duration), *_steps(given, course),
             *_held(score, given, course), *_cue(given, course, cue)]
    for part, rendition, who in zip(score.parts(), renditions, (PERFORMER, PARTNER), strict=False):
        found += _contacts(part, rendition, who)
    found += speeches(score, renditions, seed)
    return sorted(retold(found, renditions[0].mirror), key=_order)


def speeches(score: Score, renditions: Sequence[Rendition], seed: int) -> list[Interval]:
    """Return the texts that each performer says, with their times in a seed's take."""
    return [_interval(SPEECH, one.text, (one.begins, min(one.ends, rendition.line.duration)),
                      performer=who)
            for part, rendition, who in zip(score.parts(), renditions, (PERFORMER, PARTNER),
                                            strict=False)
            for one in utterances(rendition.line, seed, part.name)]


def _order(one: Interval) -> tuple[float, float, str, str, str]:
    return one.start_s, one.end_s, one.kind, one.name, one.hand or ""


def _interval(kind: str, name: str, span: Span, **facts: object) -> Interval:
    return Interval.model_validate({
        "kind": kind, "name": name, "start_s": round(span[0], 3), "end_s": round(span[1], 3)}
        | {key: value for key, value in facts.items() if value is not None})


def _role(given: Happenings, duration: float) -> Iterator[Interval]:
    if given.agent is not None:
        yield _interval(ROLE, given.agent, (0.0, duration))


def _steps(given: Happenings, course: ScoreCourse) -> Iterator[Interval]:
    for step in given.steps:
        for span in course.times(step.start, step.end):
            yield _interval("step", step.does, span, performer=step.who, hand=step.hand,
                            object=given.thing(step.thing))


def _held(score: Score, given: Happenings, course: ScoreCourse) -> Iterator[Interval]:
    for name, thing in given.things.items():
        for side in SIDES:
            for start, end in _spans(getattr(thing, side), score):
                for span in course.times(start, end):
                    yield _interval("held", name, span, hand=side, object=given.thing(name))


def _cue(given: Happenings, course: ScoreCourse, known: tuple[str, CueFacts] | None
         ) -> Iterator[Interval]:
    if given.cue is None or known is None:
        return
    name, facts = known
    cue = given.cue
    share = (cue.peak - cue.start) / (cue.end - cue.start)
    for start, end in course.times(cue.start, cue.end):
        yield _interval("cue", name, (start, end), performer=cue.who, hand=cue.hand, cue=facts,
                        peak_s=round(start + share * (end - start), 3))


def _contacts(part: Score, rendition: Rendition, who: str) -> Iterator[Interval]:
    """Yield the spans in which the score places a hand on one of its props, or on the partner."""
    for side in SIDES:
        keys = track_keys(rendition.line.phases, f"{side}_hand", HANGING)
        for anchor, span in _stays(keys, rendition.line.duration):
            if anchor in part.props:
                yield _interval("contact", anchor, span, performer=who, hand=side)
            elif anchor.startswith("partner_"):
                target = PARTNER if who == PERFORMER else PERFORMER
                yield _interval("contact", anchor.removeprefix("partner_").replace("_", " "),
                                span, performer=who, hand=side, target=target)


def _stays(keys: Sequence[TimedKey], duration: float) -> Iterator[tuple[str, Span]]:
    """Yield each anchor on which keys place a hand that does not hang, from first to last key."""
    begun: tuple[str, float] | None = None
    last = 0.0
    for timed in keys:
        key = cast(HandKey, timed.key)
        anchor = key.to.anchor if key.to is not None and not key.loose else None
        if begun is not None and anchor != begun[0]:
            yield begun[0], (begun[1], last)
            begun = None
        if begun is None and anchor is not None:
            begun = anchor, timed.time
        last = timed.time
    if begun is not None:
        yield begun[0], (begun[1], duration)
