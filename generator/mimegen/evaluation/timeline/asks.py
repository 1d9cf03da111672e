"""Find what can be asked about a timeline: only what is certain, with a margin in time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, product

from mimegen.evaluation.counting import has_certain_number
from mimegen.evaluation.subjects import Subject
from mimegen.manifest.timeline import LIES, PERFORMER, Hand, Interval, outermost

# In seconds: times that are cut off both ends of what is asked about (small random movements shift
# limbs by a tenth of a second), the least that must remain, the least distance between the starts
# of two steps, and the longest step that viewers count as one.
MARGIN_S = 0.15
MIN_DURATION_S = 0.6
APART_S = 0.3
MOMENT_S = 1.0
# Limits between answers about size, in metres. An object whose size is within the margin (a
# fraction) of a limit is not asked about.
SIZE_LIMITS = (0.2, 0.6, 1.2)
SIZE_MARGIN = 0.12
# Most steps that a question about their order has.
STEPS = 4
SIDES: tuple[Hand, Hand] = ("left", "right")
Span = tuple[float, float]


@dataclass(frozen=True)
class Ask:
    """A question before it is worded.

    ``answer`` is the index of one of the aspect's choices, or a text. ``options`` are all texts
    that are offered. Without them, the aspect's choices are offered or, if there is a ``subject``,
    distractors are drawn for it.
    """

    aspect: str
    answer: int | str
    span: Span
    words: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    subject: Subject | None = None


@dataclass(frozen=True)
class AskWording:
    """Wording that all questions share: an empty hand, who holds an object, and that it lies.

    ``holds`` contains ``{step}``, the first step of the person who holds the object.
    """

    nothing: str
    holds: str
    lies: str


def asks_of(timeline: Sequence[Interval], subject: Subject, words: AskWording) -> Iterator[Ask]:
    """Yield the questions that a performance allows."""
    whole = 0.0, float(max(one.end_s for one in timeline))
    yield from _of_things(timeline, subject)
    yield from islice(_of_content(timeline, words.nothing), 2)
    yield from _of_whereabouts(timeline, words)
    yield from _of_single_steps(timeline)
    yield from _of_order(timeline, whole)
    counts = Counter((one.name, one.performer) for one in timeline if one.kind == "step")
    for (name, who), count in counts.items():
        certain = has_certain_number(name, [other for other, whose in counts if whose == who])
        if certain and (count > 1 or _momentary(timeline, name)):
            yield Ask("often", count - 1, whole, {"step": name, "who": who})


def _momentary(timeline: Sequence[Interval], step: str) -> bool:
    """Whether each occurrence of a step is so short that viewers would not count parts of it."""
    return all(one.end_s - one.start_s <= MOMENT_S for one in timeline if one.name == step)


def _of_things(timeline: Sequence[Interval], subject: Subject) -> Iterator[Ask]:
    """Yield which object is held, how large it is, and in which hand it is."""
    for thing in _things(timeline):
        spans = [(span, state) for span, state in _states(timeline, thing) if _long(span)]
        alone = [_inner(span) for span, state in spans
                 if state and not _others(timeline, thing, span)]
        if alone:
            about = Subject(subject.action, f"{subject.name}#{thing}", thing, frozenset({thing}),
                            subject.group)
            yield Ask("thing", thing, alone[0], subject=about)
            yield from _of_size(timeline, thing, alone[0])
        for span, state in spans:
            yield Ask("hand", _hand_choice(state), _inner(span), {"thing": thing})


def _others(timeline: Sequence[Interval], thing: str, span: Span) -> bool:
    """Whether another object is held during a span."""
    return any(one.name != thing and one.start_s < span[1] and one.end_s > span[0]
               for one in _held_by(timeline, PERFORMER))


def _of_size(timeline: Sequence[Interval], thing: str, span: Span) -> Iterator[Ask]:
    """Yield the size of an object, unless it is near a limit between two answers."""
    found = [one.object.size_m for one in timeline
             if one.name == thing and one.object is not None and one.object.size_m is not None]
    if found and all(abs(found[0] / limit - 1) > SIZE_MARGIN for limit in SIZE_LIMITS):
        yield Ask("size", sum(found[0] > limit for limit in SIZE_LIMITS), span)


def _of_content(timeline: Sequence[Interval], nothing: str) -> Iterator[Ask]:
    """Yield pairs of questions: when a hand holds an object, and when a hand holds nothing."""
    for thing in _things(timeline):
        for side, other in product(SIDES, SIDES):
            full = [span for span, state in _states(timeline, thing)
                    if state == {side} and _long(span)]
            free = [span for span in _free(timeline, other) if _long(span)]
            if full and free:
                options = thing, nothing
                yield Ask("held", thing, _inner(full[0]), {"hand": side}, options)
                yield Ask("held", nothing, _inner(free[0]), {"hand": other}, options)


def _of_whereabouts(timeline: Sequence[Interval], words: AskWording) -> Iterator[Ask]:
    """Yield where an object is: in whose hand, or where it lies; each answer once.

    People are identified by their first step; if these are the same, nothing is asked.
    """
    first = {one.performer: one.name for one in reversed(outermost(timeline))}
    if len({*first.values()}) < len(first):
        return
    for thing in _things(timeline):
        spans = {}
        for one in (one for one in timeline if _long(_span(one))):
            if one.kind == "held" and one.name == thing and one.performer in first:
                spans[words.holds.format(step=first[one.performer])] = _span(one)
            elif one.name == LIES and one.object is not None and one.object.name == thing:
                spans[words.lies] = _span(one)
        if len(spans) > 1:
            for answer, span in spans.items():
                yield Ask("whereabouts", answer, _inner(span), {"thing": thing}, tuple(spans))


def _span(one: Interval) -> Span:
    return float(one.start_s), float(one.end_s)


def _things(timeline: Sequence[Interval]) -> list[str]:
    return sorted({one.name for one in timeline if one.kind == "held"})


def _hand_choice(state: set[str]) -> int:
    """Return the index of a choice: left, right, both, neither."""
    return {frozenset({"left"}): 0, frozenset({"right"}): 1, frozenset(SIDES): 2}.get(
        frozenset(state), 3)


def _held_by(timeline: Sequence[Interval], who: str) -> list[Interval]:
    return [one for one in timeline if one.kind == "held" and one.performer == who]


def _states(timeline: Sequence[Interval], thing: str) -> Iterator[tuple[Span, set[str]]]:
    """Yield spans of time during which the same hands hold an object, with these hands."""
    held = [one for one in _held_by(timeline, PERFORMER) if one.name == thing]
    for span in pairwise(_moments(timeline, held)):
        yield span, {one.hand for one in held if one.hand is not None
                     and one.start_s <= span[0] and one.end_s >= span[1]}


def _moments(timeline: Sequence[Interval], some: Sequence[Interval]) -> list[float]:
    """Return the times at which any of some intervals, or the clip, begins or ends."""
    end = max(one.end_s for one in timeline)
    return sorted({0.0, float(end), *(float(moment) for one in some
                                      for moment in (one.start_s, one.end_s))})


def _free(timeline: Sequence[Interval], side: str) -> Iterator[Span]:
    """Yield the spans in which a hand is idle: it holds and touches nothing and uses no object."""
    busy = [one for one in timeline if one.performer == PERFORMER and one.hand in (side, None)
            and (one.kind in ("held", "contact") or (one.kind == "step" and one.object))]
    for start, end in pairwise(_moments(timeline, busy)):
        if not any(one.start_s < end and one.end_s > start for one in busy):
            yield start, end


def _long(span: Span) -> bool:
    return span[1] - span[0] >= MIN_DURATION_S + 2 * MARGIN_S


def _inner(span: Span) -> Span:
    return span[0] + MARGIN_S, span[1] - MARGIN_S


def _of_single_steps(timeline: Sequence[Interval]) -> Iterator[Ask]:
    """Yield which hand performs each step that one hand performs."""
    for one in timeline:
        if one.kind == "step" and one.hand is not None:
            yield Ask("step hand", SIDES.index(one.hand), (float(one.start_s), float(one.end_s)),
                      {"step": one.name, "who": one.performer})


def _of_order(timeline: Sequence[Interval], whole: Span) -> Iterator[Ask]:
    """Yield which step is in which position, each right once, and which of two comes first."""
    steps = _distinct(timeline)[:STEPS]
    if len(steps) < 3:
        return
    options = tuple(_phrase(one) for one in steps)
    for place, one in enumerate(options):
        yield Ask("order", one, whole, {"place": str(place)}, options)
    for number, (one, then) in enumerate(zip(options[::2], options[1::2], strict=False)):
        pair = (one, then) if number % 2 == 0 else (then, one)
        yield Ask("before", number % 2, whole, {"one": pair[0], "other": pair[1]})


def _distinct(timeline: Sequence[Interval]) -> list[Interval]:
    """Return the steps that occur once and do not begin together, in order."""
    found = outermost(timeline)
    counts = Counter((one.name, one.performer) for one in found)
    single = [one for one in found if counts[one.name, one.performer] == 1]
    apart: list[Interval] = []
    for one in single:
        if not apart or one.start_s - apart[-1].start_s >= APART_S:
            apart.append(one)
    return apart


def _phrase(one: Interval) -> str:
    """Return a step with the person who performs it."""
    who = "the person" if one.performer == PERFORMER else "the other person"
    return f"{who} {one.name}"
