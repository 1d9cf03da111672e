"""Minimal pairs: two declarations that differ in exactly one factor."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import file_hash
from mimegen.base.seeds import generator
from mimegen.choreography.perform import LOOKED_AT_FPS
from mimegen.faults.fault import fault_kinds
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import Entry
from mimegen.library.face_take import FaceTake
from mimegen.library.hand_take import HandTake
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.score_take import ScoreTake
from mimegen.library.sequence_take import may_follow
from mimegen.library.take import LibraryTake
from mimegen.library.takes import can_mirror, library_take
from mimegen.manifest.pair import PairFacts
from mimegen.manifest.timeline import OTHER_HAND, PARTNER, Hand, Interval, retold, role_of
from mimegen.motion.editing import resampled
from mimegen.motion.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.motion.reversal import irreversibility
from mimegen.plan.clips import NAMED
from mimegen.plan.permute.axes import Freedom
from mimegen.plan.permute.declaration import Declaration, Following
from mimegen.plan.permute.designs import RANDOM, design_of
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.plan.permute.planned import members_of, take_of
from mimegen.plan.permute.seen import SeenRows
from mimegen.plan.permute.space import Space
from mimegen.readers.roles import find_roles

# Tempos different enough to be told apart from a single clip, and within the limits of
# permutations.
SLOW = 0.5
FAST = 1.75
# Pairs of opposite styles.
OPPOSITES = (("tired", "brisk"), ("exaggerated", "restrained"))
# Repetitions of a cue's movement; a viewer can count either number.
FEW_TIMES = 2
MANY_TIMES = 5
# Clearly visible, while the movement remains recognisable.
FAULT_AMOUNT = 0.8
TURN_DEG = 90.0  # turn of the camera between the halves of a pair
# Movements that retrace their own path look the same played backwards. Repetitive ones (skipping
# rope, playing a guitar) are below this distance in metres; sitting down, throwing and walking are
# above.
MIN_IRREVERSIBLE_M = 0.4
IRREVERSIBLE_FPS = 15.0  # frame rate at which positions are compared
# The joints whose positions are compared; fingers and toes would only duplicate hands and feet.
MOVING = ("hips", "head", *(f"{side}_{part}" for side in ("left", "right")
                            for part in ("forearm", "hand", "shin", "foot")))
# Ekman's emotions, which people tell apart best.
BASIC_EMOTIONS = ("anger", "contempt", "disgust", "fear", "happiness", "sadness", "surprise")
# An action is one-handed if one hand has at least this fraction of the hands' time in its timeline.
ONE_HANDED = 0.75
# And the other hand goes at most this fraction of its way, as seen from the chest: timelines leave
# out the hand in most steps of both, and jumping jacks end with one hand at the hip.
MAX_OF_OTHER_HAND = 0.7
CHEST = "Spine2"
# Two people whom a question can refer to by name.
AGENTS = ("man", "woman")
# Names of takes that show one gesture in opposite directions; left and right are the performer's.
SIDEWAYS = ("left", "right")
DIRECTIONS = (SIDEWAYS, ("up", "down"))
BLANK = "blank"
# How often a pair is drawn at most until both halves are without faults.
MAX_TRIED = 60
# Draws of one take before another is chosen: some can never be played at a factor's higher speed.
MAX_TRIED_OF_TAKE = 6

Changes = dict[str, Any]
Halves = tuple[tuple[str, Changes], tuple[str, Changes]]


@dataclass(frozen=True)
class Factor:
    """The factor in which the two halves of a pair differ.

    ``suits`` returns whether a take can have such a pair. ``halves`` returns, for a drawn
    declaration, the value and the changed fields of both halves, or None if this draw has none.
    ``shows`` returns whether viewers can tell the halves of a take apart; as it is slow, it is
    called only for takes as they are drawn, and takes that fail are skipped.
    """

    name: str
    about: str
    suits: Callable[[LibraryTake], bool]
    halves: Callable[["PairDrawing", Declaration, int], Halves | None]
    shows: Callable[[LibraryTake], bool] | None = None


@dataclass(frozen=True)
class PairDrawing:
    """Draws pairs of one factor from a seed; each pair is the same however many are drawn."""

    catalogue: Catalogue
    drawing: Drawing
    factor: Factor
    seed: int

    def pairs(self, count: int) -> Iterator[tuple[Declaration, Declaration]]:
        """Yield ``count`` pairs. Raises RequestError if no pair without faults is found."""
        item = 0
        for number in range(count):
            pair, item = self._next(number, item)
            yield pair

    def _next(self, number: int, item: int) -> tuple[tuple[Declaration, Declaration], int]:
        """Return a pair of the first item, from ``item`` on, that has one, and the item after it.

        Raises RequestError if ``MAX_TRIED`` draws fail.
        """
        last = ""
        for _ in range(MAX_TRIED // MAX_TRIED_OF_TAKE):
            item = self._showing(item)
            found = self._pair(number, item)
            item += 1
            if not isinstance(found, str):
                return found, item
            last = found
        raise RequestError(f"--factors {self.factor.name}: none of {MAX_TRIED} drawn pairs passed"
                           f" mimegen score lint (the last: {last}); choose other --actions, or"
                           " another --seed")

    def _showing(self, item: int) -> int:
        """Return the first item, from ``item`` on, whose take shows the factor."""
        shows, space = self.factor.shows, self.drawing.space
        if shows is None:
            return item
        for one in range(item, item + MAX_TRIED):
            if shows(space.parts[self.drawing.design.cell(one, 0).part].take):
                return one
        raise RequestError(f"--factors {self.factor.name}: none of {MAX_TRIED} drawn takes suits"
                           f" it ({self.factor.about}); choose other --actions")

    def _pair(self, number: int, item: int) -> tuple[Declaration, Declaration] | str:
        """Return the halves of a pair without faults, or a fault if no draw of the take is."""
        fault = ""
        for attempt in range(MAX_TRIED_OF_TAKE):
            base = self.drawing.draw(item, attempt)
            suits = self.factor.suits(take_of(self.catalogue, base))
            found = self.factor.halves(self, base, attempt) if suits else None
            if found is None:
                fault = f"{base.action}: {self.factor.name} does not apply"
                continue
            first, second = (self._half(base, number, *half) for half in found)
            fault = self._fault(first) or self._fault(second)
            if not fault:
                return first, second
        return fault

    def _half(self, base: Declaration, number: int, value: str, changes: Changes) -> Declaration:
        # The name has the seed, so that pairs of several specifications can share a folder.
        name = f"{self.factor.name}-seed{self.seed}-{number:04d}"
        facts = PairFacts(id=name, factor=self.factor.name, value=value)
        return base.model_copy(update={**changes, "pair": facts})

    def _fault(self, half: Declaration) -> str:
        """Return the first fault that lint finds in a half's take, or an empty text."""
        take = take_of(self.catalogue, half)
        if not isinstance(take, ScoreTake):
            return ""
        people = members_of(self.catalogue, half, take) if "random:" in half.character else ()
        faults = self.drawing.good.findings(take, people)
        return f"{half.action}: {faults[0]}" if faults else ""

    def drawn(self, base: Declaration, attempt: int, below: int) -> int:
        """Return a random integer below a limit, determined by a base and an attempt."""
        name = base.model_dump_json(exclude_none=True)
        return int(generator(self.seed, "pairs", self.factor.name, name, attempt).integers(below))


def pairs_of(catalogue: Catalogue, entries: Sequence[Entry], factor: Factor,
             fixes: Sequence[str], count: int, seed: int) -> list[Declaration]:
    """Return the halves of ``count`` pairs of a factor, the halves of a pair side by side.

    Raises RequestError if no take of the actions suits the factor, and as ``Space.of``.
    """
    suited = [entry for entry in entries
              if any(factor.suits(library_take(entry, name, 0)) for name in entry.takes)]
    if not suited:
        raise RequestError(f"--factors {factor.name}: no take of these actions suits it"
                           f" ({factor.about})")
    freedom = Freedom.of(",".join(sorted(DRAWN - _names(fixes))), fixes)
    space = Space.of(catalogue, suited, freedom, SeenRows(catalogue))
    drawing = Drawing(space, design_of(RANDOM, space, seed), seed, GoodTakes.of_user())
    pairs = PairDrawing(catalogue, drawing, factor, seed).pairs(count)
    return [half for pair in pairs for half in pair]


def _names(fixes: Sequence[str]) -> set[str]:
    return {fix.partition("=")[0].strip() for fix in fixes}


def parse_factors(text: str) -> list[Factor]:
    """Return the factors named by ``A,B`` or ``all``. Raises RequestError for an unknown one."""
    if text.strip() == "all":
        return list(FACTORS.values())
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in FACTORS:
            raise RequestError(f"--factors {name}: no such factor{near_misses(name, FACTORS)}")
    return [FACTORS[name] for name in names]


def _action(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves | None:
    """Vary the action, with the same number of performers; everything else stays."""
    take = take_of(drawing.catalogue, base)
    parts = [part for part in drawing.drawing.space.parts
             if part.take.action != base.action and part.take.performers == take.performers]
    if not parts:
        return None
    other = parts[drawing.drawn(base, attempt, len(parts))].take
    changes = {"action": other.action, "take": other.name, "motion_sha256": file_hash(other.file)}
    return (base.action, {}), (other.action, changes)


def _order(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves | None:
    """Vary the order: the action before one of another semantic group, and after it."""
    take = take_of(drawing.catalogue, base)
    parts = [part.take for part in drawing.drawing.space.parts
             if _may_follow(part.take) and _are_different(part.take, take)]
    if not parts:
        return None
    other = parts[drawing.drawn(base, attempt, len(parts))]
    own, after = (Following(action=one.action, take=one.name, motion_sha256=file_hash(one.file))
                  for one in (take, other))
    # A background fits at most one of the two actions, so it is named instead of called aligned.
    place = {} if base.background_kind == BLANK else {"background_kind": NAMED}
    return ((f"{own.action}, {after.action}", {**place, "then": after}),
            (f"{after.action}, {own.action}", {**place, **after.model_dump(), "then": own}))


def _target(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves | None:
    """Vary a gesture's direction: the takes named for a direction and for its opposite."""
    files = drawing.catalogue.action(base.action).takes
    pair = next(pair for pair in DIRECTIONS if base.take in pair)
    if not files.keys() >= {*pair}:
        return None
    return tuple(  # type: ignore[return-value]
        (name, {"take": name, "motion_sha256": file_hash(files[name])}) for name in pair)


def _are_different(one: LibraryTake, other: LibraryTake) -> bool:
    """Return whether two takes show different actions of different groups."""
    same_group = one.semantic_group is not None and one.semantic_group == other.semantic_group
    return one.action != other.action and not same_group


def _speed(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves:
    return ("slow", {"tempo": SLOW}), ("fast", {"tempo": FAST})


def _style(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves:
    first, second = OPPOSITES[drawing.drawn(base, attempt, len(OPPOSITES))]
    return (first, {"style": first}), (second, {"style": second})


def _repetitions(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves | None:
    few, many = ({"frequency": times} for times in (FEW_TIMES, MANY_TIMES))
    return (str(FEW_TIMES), few), (str(MANY_TIMES), many)


def _fault(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves:
    kinds = sorted(fault_kinds())
    kind = kinds[drawing.drawn(base, attempt, len(kinds))]
    return ("none", {}), (kind, {"fault": kind, "fault_amount": FAULT_AMOUNT})


def _mirror(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves:
    return ("no", {"mirror": False}), ("yes", {"mirror": True})


def _background(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves | None:
    """Vary the background: the set that fits the action and the one that misleads."""
    take = take_of(drawing.catalogue, base)
    if take.aligned is None or take.misaligned is None:
        return None
    return tuple(  # type: ignore[return-value]
        (role, {"background_kind": role, "background": str(name), "set_seed": None})
        for role, name in (("aligned", take.aligned), ("misaligned", take.misaligned)))


def _performer(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves:
    person = f"random:{drawing.drawn(base, attempt, 10**6)}"
    return (base.character, {}), (person, {"character": person})


def _angle(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves:
    turned = round((base.azimuth + TURN_DEG + 180) % 360 - 180, 3)
    return (f"{base.azimuth:g}", {}), (f"{turned:g}", {"azimuth": turned})


def _hand(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves | None:
    """Vary the hand: the take and its mirror image."""
    take = take_of(drawing.catalogue, base.model_copy(update={"mirror": False}))
    hand = leading_hand(take.timeline or ())
    if hand is None:
        return None
    return (hand, {"mirror": False}), (OTHER_HAND[hand], {"mirror": True})


def _agent(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves:
    """Vary who plays which part: the man and the woman swap."""
    first, second = AGENTS
    return ((first, {"character": first, "partner": second}),
            (second, {"character": second, "partner": first}))


def _emotion(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves:
    pairs = list(permutations(BASIC_EMOTIONS, 2))
    first, second = pairs[drawing.drawn(base, attempt, len(pairs))]
    return (first, {"emotion": first}), (second, {"emotion": second})


def _reversed(drawing: PairDrawing, base: Declaration, attempt: int) -> Halves | None:
    """Vary the direction of time; None if the take with this seed looks the same backwards."""
    if not _shows_time(take_of(drawing.catalogue, base)):
        return None
    return ("forwards", {}), ("backwards", {"reverse": True})


def _shows_time(take: LibraryTake) -> bool:
    """Return whether a take looks different played backwards; False if it cannot be performed."""
    try:
        return shown_backwards(take) >= MIN_IRREVERSIBLE_M
    except RequestError:
        return False


@lru_cache(maxsize=1024)
def shown_backwards(take: LibraryTake) -> float:
    """Return the distance, in metres, of a take played backwards from all it shows forwards."""
    return max(irreversibility(_places(*source), IRREVERSIBLE_FPS)
               for source in take.sources(LOOKED_AT_FPS))


def _places(motion: Motion, roles: Mapping[str, str] | None) -> FloatArray:
    """Return the positions (F, J, 3) of a performer's main joints."""
    joints = roles or find_roles(motion.skeleton).joints
    names = motion.skeleton.names
    numbers = [names.index(joints[role]) for role in MOVING if role in joints]
    motion = motion if motion.fps == IRREVERSIBLE_FPS else resampled(motion, IRREVERSIBLE_FPS)
    return motion.global_pose.positions[:, numbers]


def leading_hand(timeline: Sequence[Interval]) -> Hand | None:
    """Return the hand that does nearly all of the hands' work; None if both do."""
    busy: dict[Hand, float] = {"left": 0.0, "right": 0.0}
    for one in timeline:
        if one.kind == "step" and one.hand is not None and one.performer != PARTNER:
            busy[one.hand] += one.end_s - one.start_s
    hand: Hand = "left" if busy["left"] > busy["right"] else "right"
    total = sum(busy.values())
    return hand if total and busy[hand] >= ONE_HANDED * total else None


def _one_handed(take: LibraryTake) -> bool:
    """Return whether one hand of one person does the action and the other could as well."""
    return (isinstance(take, ScoreTake) and not isinstance(take, HandTake) and can_mirror(take)
            and take.performers == 1 and leading_hand(take.timeline) is not None)


@lru_cache(maxsize=1024)
def shows_hand(take: LibraryTake) -> bool:
    """Return whether viewers see which hand leads: the other one moves much less.

    False if the take cannot be performed.
    """
    try:
        [(motion, _), *_] = take.sources(LOOKED_AT_FPS)
    except RequestError:
        return False
    moved = {hand: _path_length(motion, hand) for hand in OTHER_HAND}
    # What is mirrored is performed as written.
    hand = leading_hand(retold(take.timeline or (), mirror=take.mirror))
    return hand is not None and moved[OTHER_HAND[hand]] <= MAX_OF_OTHER_HAND * moved[hand]


def _path_length(motion: Motion, hand: Hand) -> float:
    """Return how far a hand of a score's skeleton moves about the chest, in metres."""
    places, index = motion.global_pose.positions, motion.skeleton.index
    moved = places[:, index[f"{hand.title()}Hand"]] - places[:, index[CHEST]]
    return float(np.linalg.norm(np.diff(moved, axis=0), axis=-1).sum())


def _has_roles(take: LibraryTake) -> bool:
    """Return whether the two performers have different roles."""
    return take.performers == len(AGENTS) and role_of(take.timeline or ()) is not None


def _any(take: LibraryTake) -> bool:
    return isinstance(take, ScoreTake | RecordedTake)


def _shows_no_emotion(take: LibraryTake) -> bool:
    """Return whether the action itself is no emotion, which another one would contradict."""
    return isinstance(take, ScoreTake) and not isinstance(take, FaceTake)


def _scored(take: LibraryTake) -> bool:
    return isinstance(take, ScoreTake)


def _has_direction(take: LibraryTake) -> bool:
    """Return whether a take is named for a direction that all its seeds keep."""
    return isinstance(take, ScoreTake) and any(take.name in pair for pair in DIRECTIONS) and not (
        take.name in SIDEWAYS and take.score.vary.mirror)


def _may_follow(take: LibraryTake) -> bool:
    """Return whether a take can be combined with another action of the same person."""
    return (isinstance(take, ScoreTake) and not isinstance(take, FaceTake | HandTake)
            and may_follow(take))


def _repeats(take: LibraryTake) -> bool:
    """Return whether a take is a score with a repeatable movement."""
    return isinstance(take, ScoreTake) and bool(take.score.repeat)


# Axes drawn once for both halves.
DRAWN = frozenset({"seed", "character", "azimuth", "light_azimuth", "light_elevation"})
FACTORS = {factor.name: factor for factor in (
    Factor("action", "another action by the same person, from the same side", _any, _action),
    Factor("order", "two actions by one person, in either order; short ones without walking only",
           _may_follow, _order),
    Factor("target", "a gesture to the left and to the right, or up and down; gestures of"
           " 'mimegen list directed' only, and takes with these names; scores of left and right"
           " need 'mirror: false' under vary", _has_direction, _target),
    Factor("speed", f"played {SLOW:g} and {FAST:g} times as fast", _any, _speed),
    Factor("style", "performed in opposite styles; choreographed takes only", _scored, _style),
    Factor("repetitions", f"a cue's movement made {FEW_TIMES} and {MANY_TIMES} times; cues only",
           _repeats, _repetitions),
    Factor("fault", f"without a fault and with one of amount {FAULT_AMOUNT:g}", _any, _fault),
    Factor("mirror", "left and right swapped, where the take allows it", can_mirror, _mirror),
    Factor("background", "the background that fits and the one that misleads", _any, _background),
    Factor("performer", "another random person", _any, _performer),
    Factor("hand", "done with the right and with the left hand; takes of one person that show it"
           " only", _one_handed, _hand, shows_hand),
    Factor("agent", "the man and the woman in each other's parts; takes of two roles only",
           _has_roles, _agent),
    Factor("emotion", "another emotion in the face; best with --fix config=portrait",
           _shows_no_emotion, _emotion),
    Factor("reversed", "forwards and backwards; takes that show which it is only", _any,
           _reversed, _shows_time),
    Factor("angle", f"the camera turned by {TURN_DEG:g} degrees", _any, _angle),
)}
