"""The factors in which minimal pairs differ, and the halves that each makes of a declaration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import file_hash
from mimegen.faults.fault import fault_kinds
from mimegen.library.catalogue import Catalogue
from mimegen.library.take import LibraryTake
from mimegen.library.takes import can_mirror
from mimegen.manifest.timeline import OTHER_HAND
from mimegen.plan.clips import NAMED
from mimegen.plan.permute.declaration import Declaration, Following
from mimegen.plan.permute.planned import take_of
from mimegen.plan.permute.suited_takes import (
    DIRECTIONS,
    can_be_combined,
    has_direction,
    has_roles,
    is_one_handed,
    is_scored,
    is_scored_or_recorded,
    leading_hand,
    repeats,
    shows_hand,
    shows_no_emotion,
    shows_time,
)
from mimegen.plan.permute.telling import (
    BY_FAULT,
    BY_TAKE,
    ONE_FRAME,
    SEVERAL_FRAMES,
    Telling,
)

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
# Ekman's emotions, which people tell apart best.
BASIC_EMOTIONS = ("anger", "contempt", "disgust", "fear", "happiness", "sadness", "surprise")
# Two people whom a question can refer to by name.
AGENTS = ("man", "woman")
BLANK = "blank"

Changes = dict[str, Any]
Halves = tuple[tuple[str, Changes], tuple[str, Changes]]


@dataclass(frozen=True)
class Base:
    """A drawn declaration, from which the halves of a pair are made.

    ``takes`` are all takes that can be drawn; ``drawn_below`` returns a random integer below a
    limit, determined by the declaration.
    """

    catalogue: Catalogue
    declaration: Declaration
    takes: Sequence[LibraryTake]
    drawn_below: Callable[[int], int]

    @cached_property
    def take(self) -> LibraryTake:
        """The take that is declared."""
        return take_of(self.catalogue, self.declaration)


@dataclass(frozen=True)
class Factor:
    """The factor in which the two halves of a pair differ.

    ``suits`` returns whether a take can have such a pair. ``halves`` returns, for a drawn
    declaration, the value and the changed fields of both halves, or None if this draw has none.
    ``shows`` returns whether viewers can tell the halves of a take apart; as it is slow, it is
    called only for takes as they are drawn, and takes that fail are skipped. ``told_by`` finds out
    whether one frame can tell the halves apart.
    """

    name: str
    about: str
    suits: Callable[[LibraryTake], bool]
    halves: Callable[[Base], Halves | None]
    told_by: Telling
    shows: Callable[[LibraryTake], bool] | None = None


def parse_factors(text: str) -> list[Factor]:
    """Return the factors named by ``A,B`` or ``all``. Raises RequestError for an unknown one."""
    if text.strip() == "all":
        return list(FACTORS.values())
    names = list(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in FACTORS:
            raise RequestError(f"--factors {name}: no such factor{near_misses(name, FACTORS)}")
    return [FACTORS[name] for name in names]


def _action(base: Base) -> Halves | None:
    """Vary the action, with the same number of performers; everything else stays."""
    own = base.declaration.action
    takes = [take for take in base.takes
             if take.action != own and take.performers == base.take.performers]
    if not takes:
        return None
    other = takes[base.drawn_below(len(takes))]
    changes = {"action": other.action, "take": other.name, "motion_sha256": file_hash(other.file)}
    return (own, {}), (other.action, changes)


def _order(base: Base) -> Halves | None:
    """Vary the order: the action before one of another semantic group, and after it."""
    takes = [take for take in base.takes
             if can_be_combined(take) and _are_different(take, base.take)]
    if not takes:
        return None
    other = takes[base.drawn_below(len(takes))]
    own, after = (Following(action=one.action, take=one.name, motion_sha256=file_hash(one.file))
                  for one in (base.take, other))
    # A background fits at most one of the two actions, so it is named instead of called aligned.
    place = {} if base.declaration.background_kind == BLANK else {"background_kind": NAMED}
    return ((f"{own.action}, {after.action}", {**place, "then": after}),
            (f"{after.action}, {own.action}", {**place, **after.model_dump(), "then": own}))


def _target(base: Base) -> Halves | None:
    """Vary a gesture's direction: the takes named for a direction and for its opposite."""
    files = base.catalogue.action(base.declaration.action).takes
    pair = next(pair for pair in DIRECTIONS if base.declaration.take in pair)
    if not files.keys() >= {*pair}:
        return None
    return tuple(  # type: ignore[return-value]
        (name, {"take": name, "motion_sha256": file_hash(files[name])}) for name in pair)


def _are_different(one: LibraryTake, other: LibraryTake) -> bool:
    """Return whether two takes show different actions of different groups."""
    same_group = one.semantic_group is not None and one.semantic_group == other.semantic_group
    return one.action != other.action and not same_group


def _speed(_: Base) -> Halves:
    return ("slow", {"tempo": SLOW}), ("fast", {"tempo": FAST})


def _style(base: Base) -> Halves:
    first, second = OPPOSITES[base.drawn_below(len(OPPOSITES))]
    return (first, {"style": first}), (second, {"style": second})


def _repetitions(_: Base) -> Halves:
    few, many = ({"frequency": times} for times in (FEW_TIMES, MANY_TIMES))
    return (str(FEW_TIMES), few), (str(MANY_TIMES), many)


def _fault(base: Base) -> Halves:
    kinds = sorted(fault_kinds())
    kind = kinds[base.drawn_below(len(kinds))]
    return ("none", {}), (kind, {"fault": kind, "fault_amount": FAULT_AMOUNT})


def _mirror(_: Base) -> Halves:
    return ("no", {"mirror": False}), ("yes", {"mirror": True})


def _background(base: Base) -> Halves | None:
    """Vary the background: the set that fits the action and the one that misleads."""
    take = base.take
    if take.aligned is None or take.misaligned is None:
        return None
    return tuple(  # type: ignore[return-value]
        (role, {"background_kind": role, "background": str(name), "set_seed": None})
        for role, name in (("aligned", take.aligned), ("misaligned", take.misaligned)))


def _performer(base: Base) -> Halves:
    person = f"random:{base.drawn_below(10**6)}"
    return (base.declaration.character, {}), (person, {"character": person})


def _angle(base: Base) -> Halves:
    azimuth = base.declaration.azimuth
    turned = round((azimuth + TURN_DEG + 180) % 360 - 180, 3)
    return (f"{azimuth:g}", {}), (f"{turned:g}", {"azimuth": turned})


def _hand(base: Base) -> Halves | None:
    """Vary the hand: the take and its mirror image."""
    take = take_of(base.catalogue, base.declaration.model_copy(update={"mirror": False}))
    hand = leading_hand(take.timeline or ())
    if hand is None:
        return None
    return (hand, {"mirror": False}), (OTHER_HAND[hand], {"mirror": True})


def _agent(_: Base) -> Halves:
    """Vary who plays which part: the man and the woman swap."""
    first, second = AGENTS
    return ((first, {"character": first, "partner": second}),
            (second, {"character": second, "partner": first}))


def _emotion(base: Base) -> Halves:
    pairs = list(permutations(BASIC_EMOTIONS, 2))
    first, second = pairs[base.drawn_below(len(pairs))]
    return (first, {"emotion": first}), (second, {"emotion": second})


def _reversed(base: Base) -> Halves | None:
    """Vary the direction of time; None if the take with this seed looks the same backwards."""
    if not shows_time(base.take):
        return None
    return ("forwards", {}), ("backwards", {"reverse": True})


FACTORS = {factor.name: factor for factor in (
    Factor("action", "another action by the same person, from the same side",
           is_scored_or_recorded, _action, BY_TAKE),
    Factor("order", "two actions by one person, in either order; short ones without walking only",
           can_be_combined, _order, BY_TAKE),
    Factor("target", "a gesture to the left and to the right, or up and down; gestures of"
           " 'mimegen list directed' only, and takes with these names; scores of left and right"
           " need 'mirror: false' under vary", has_direction, _target, BY_TAKE),
    Factor("speed", f"played {SLOW:g} and {FAST:g} times as fast", is_scored_or_recorded, _speed,
           SEVERAL_FRAMES),
    Factor("style", "performed in opposite styles; choreographed takes only", is_scored, _style,
           BY_TAKE),
    Factor("repetitions", f"a cue's movement made {FEW_TIMES} and {MANY_TIMES} times; cues only",
           repeats, _repetitions, SEVERAL_FRAMES),
    Factor("fault", f"without a fault and with one of amount {FAULT_AMOUNT:g}",
           is_scored_or_recorded, _fault, BY_FAULT),
    Factor("mirror", "left and right swapped, where the take allows it", can_mirror, _mirror,
           BY_TAKE),
    Factor("background", "the background that fits and the one that misleads",
           is_scored_or_recorded, _background, ONE_FRAME),
    Factor("performer", "another random person", is_scored_or_recorded, _performer, ONE_FRAME),
    Factor("hand", "done with the right and with the left hand; takes of one person that show it"
           " only", is_one_handed, _hand, BY_TAKE, shows_hand),
    Factor("agent", "the man and the woman in each other's parts; takes of two roles only",
           has_roles, _agent, BY_TAKE),
    Factor("emotion", "another emotion in the face; best with --fix config=portrait",
           shows_no_emotion, _emotion, ONE_FRAME),
    Factor("reversed", "forwards and backwards; takes that show which it is only",
           is_scored_or_recorded, _reversed, SEVERAL_FRAMES, shows_time),
    Factor("angle", f"the camera turned by {TURN_DEG:g} degrees", is_scored_or_recorded, _angle,
           ONE_FRAME),
)}
