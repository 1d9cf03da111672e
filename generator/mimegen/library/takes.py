"""Make takes from names and files."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType
from typing import Any, overload

from mimegen.base.counted import listed
from mimegen.base.errors import RequestError
from mimegen.choreography.action import Action
from mimegen.choreography.manner import AS_WRITTEN, CueManner, in_manner
from mimegen.choreography.styles import style_named
from mimegen.faces.gaze import PARTNER
from mimegen.faces.overlay import FaceOverlay
from mimegen.hands.compiling import HandName
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import GAIT_SUFFIX, SCORE_SUFFIX, Entry
from mimegen.library.face_entries import FaceEntry
from mimegen.library.face_take import face_take
from mimegen.library.gait_take import GaitTake, gait_options
from mimegen.library.hand_entries import HandEntry
from mimegen.library.hand_take import HandTake, hand_take
from mimegen.library.naming import plain
from mimegen.library.recorded_take import RecordedTake, recorded
from mimegen.library.score_facts import score_facts
from mimegen.library.score_take import ScoreTake, read_score_once
from mimegen.library.take import RELAXED, LibraryTake
from mimegen.library.takefile import TAKE_SUFFIX, options_of, read_take_file
from mimegen.manifest.timeline import CueFacts
from mimegen.readers import WITH_TAKES, ReadOptions, kind_of
from mimegen.readers.options import AS_FOUND
from mimegen.readers.partners import both_people

NO_GAIT: Mapping[str, Any] = MappingProxyType({})
# Takes for which each seed gives another performance.
SEEDED = (ScoreTake, GaitTake)


def library_take(entry: Entry, take: str | None, seed: int, style: str | None = None,
                 manner: CueManner = AS_WRITTEN, gait: Mapping[str, Any] = NO_GAIT,
                 hand: HandName | None = None) -> LibraryTake:
    """Return a take of the library.

    Motion capture has no seed and no style, and only cues have a manner. ``gait`` are a walker's
    options by name, for gaits only; ``hand`` is for hand actions only. Raises RequestError, naming
    file and line, if the score or take file is invalid, and for an unknown style or a manner that
    the take does not have.
    """
    if seed < 0:
        raise RequestError(f"seed {seed}: expected 0 or more")
    file = entry.take(take)
    _check_kind(entry, file, gait, hand)
    if file.name.endswith(GAIT_SUFFIX):
        return _gait(entry.action, file, seed, style, gait)
    if isinstance(entry, FaceEntry):
        return _of_face(entry, take, seed, style, manner)
    if isinstance(entry, HandEntry):
        return _of_hands(entry, take, seed, style, manner, hand)
    if not file.name.endswith(SCORE_SUFFIX):
        return _captured(entry.action, file)
    manner = usual_left_out(file, manner)
    if style is not None:
        style_named(style)
    name = file.name.removesuffix(SCORE_SUFFIX)
    action = entry.action.of_take(name)
    return ScoreTake(
        action=action.id, name=name, labels=tuple(action.labels),
        aligned=action.aligned_background, misaligned=action.misaligned_background,
        file=file, seed=seed, actor="choreography", licence=action.licence, style=style,
        semantic_group=action.semantic_group, intentions=action.intentions,
        cue=CueFacts(**action.cue.model_dump(mode="json", exclude_none=True))
        if action.cue else None,
        manner=manner,
    )


def _check_kind(entry: Entry, file: Path, gait: Mapping[str, Any], hand: HandName | None) -> None:
    """Raise RequestError for options of a walker or a hand with an action of another kind."""
    if gait and not file.name.endswith(GAIT_SUFFIX):
        option = min(gait).replace("_", "-")
        raise RequestError(f"--{option}: {entry.action.id} is not a gait; it applies to walk, run"
                           " and the like")
    if hand is not None and not isinstance(entry, HandEntry):
        raise RequestError(f"--hand: {entry.action.id} is not a hand action (mimegen list hands)")


def _of_hands(entry: HandEntry, take: str | None, seed: int, style: str | None, manner: CueManner,
              hand: HandName | None) -> LibraryTake:
    """Return a take of a hand action. Raises RequestError for a manner, which only cues have."""
    if manner != AS_WRITTEN:
        raise _no_cue(entry.action.id, manner)
    if style is not None:
        style_named(style)
    return hand_take(entry, take, seed, style, hand)


def _of_face(entry: FaceEntry, take: str | None, seed: int, style: str | None,
             manner: CueManner) -> LibraryTake:
    """Return a take of an emotion. Raises RequestError for options that only cues have."""
    entry.take(take)
    if manner.stance is not None or manner.frequency is not None:
        raise _no_cue(entry.action.id, replace(manner, intensity=None))
    if style is not None:
        style_named(style)
    return face_take(entry, seed, style, manner.intensity)


def _gait(action: Action, file: Path, seed: int, style: str | None,
          gait: Mapping[str, Any]) -> GaitTake:
    """Return a take of a gait. Raises RequestError for values its walker cannot have."""
    take = GaitTake(
        action=action.id, name=file.name.removesuffix(GAIT_SUFFIX), labels=tuple(action.labels),
        aligned=action.aligned_background, misaligned=action.misaligned_background,
        file=file, seed=seed, actor="gait", licence=action.licence,
        semantic_group=action.semantic_group, intentions=action.intentions,
        asked=gait_options({**gait, "style": style}))
    assert take.walker is not None, "wrong values are told here"
    return take


def usual_left_out(file: Path, manner: CueManner) -> CueManner:
    """Return a manner without the values that are the score's own.

    Raises RequestError if the score cannot be performed in that manner.
    """
    if manner == AS_WRITTEN and not score_facts(file).stances:
        return manner
    score = read_score_once(file)
    if manner != AS_WRITTEN and not score.stances:
        raise _no_cue(score.action, manner)
    in_manner(read_score_once(file, manner.stance), manner)
    return CueManner(manner.stance if manner.stance != (*score.stances, None)[0] else None,
                     manner.intensity if manner.intensity != 1 else None, manner.frequency)


def _no_cue(action: str, manner: CueManner) -> RequestError:
    """Return the error for a manner given with an action that is not a cue."""
    options = listed(tuple(f"--{name}" for name in manner.given))
    emotion = ("" if manner.intensity is None
               else "; with --emotion NAME, --intensity is the emotion's")
    return RequestError(f"{action}: is not a cue, so {options}"
                        f" {'do' if len(manner.given) > 1 else 'does'} not apply (cues: mimegen"
                        f" list cues{emotion})")


def can_mirror(take: LibraryTake) -> bool:
    """Return whether left and right may be swapped: motion capture always, a score if it says so.

    Hand actions have ``--hand`` for this.
    """
    if isinstance(take, HandTake):
        return False
    return not isinstance(take, ScoreTake) or take.score.vary.mirror


def altered(take: LibraryTake, tempo: float, mirror: bool, overlay: FaceOverlay | None = None,
            reverse: bool = False) -> LibraryTake:
    """Return a take at another tempo, mirrored, backwards, or with an overlay on the first face.

    Raises RequestError if the take must not be mirrored, or if it has no partner to gaze at.
    """
    if mirror and isinstance(take, HandTake):
        raise RequestError(f"--mirror: {take.action} is a hand action; use --hand left or right")
    if mirror and not can_mirror(take):
        raise RequestError(f"--mirror: {take.action}, take {take.name}, depends on left and right"
                           " (vary: of its score) and cannot be mirrored; leave it out")
    if overlay is not None and overlay.gaze == PARTNER and take.performers == 1:
        raise RequestError(f"--gaze {PARTNER}: {take.action} is performed by one person")
    assert isinstance(take, ScoreTake | RecordedTake | GaitTake)
    return replace(take, tempo=tempo, mirror=mirror, reverse=reverse,
                   overlay=_over(take.overlay, overlay))


def _over(own: FaceOverlay | None, asked: FaceOverlay | None) -> FaceOverlay | None:
    """Return the requested overlay, with the take's own emotion if it has none."""
    if own is None or asked is None or asked.emotion is not None:
        return asked or own
    return replace(asked, emotion=own.emotion, intensity=own.intensity)


@dataclass(frozen=True)
class SeededTakes(Sequence[LibraryTake]):
    """Each take with each of the seeds, made on demand; motion capture only once."""

    takes: tuple[LibraryTake, ...]
    seeds: range

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(len(self.seeds) if isinstance(take, SEEDED) else 1
                               for take in self.takes))

    def __len__(self) -> int:
        return self._ends[-1] if self.takes else 0

    @overload
    def __getitem__(self, number: int) -> LibraryTake: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[LibraryTake]: ...
    def __getitem__(self, number: int | slice) -> LibraryTake | Sequence[LibraryTake]:
        if isinstance(number, slice):
            return [self[one] for one in range(*number.indices(len(self)))]
        number = range(len(self))[number]
        place = bisect_right(self._ends, number)
        take = self.takes[place]
        if not isinstance(take, SEEDED):
            return take
        return replace(take, seed=self.seeds[number - (self._ends[place - 1] if place else 0)])


def _captured(action: Action, file: Path) -> LibraryTake:
    """Return a library's motion capture take; values that its file omits are the action's."""
    facts = read_take_file(file)
    take = RecordedTake(
        action=action.id, name=file.name.removesuffix(TAKE_SUFFIX)
        if file.name.endswith(TAKE_SUFFIX) else file.stem,
        labels=facts.labels or tuple(action.labels),
        aligned=facts.aligned_background or action.aligned_background,
        misaligned=facts.misaligned_background or action.misaligned_background,
        file=file.parent / facts.file, actor=facts.actor, licence=facts.licence,
        options=options_of(file, facts), source=facts.source, original_name=facts.original_name,
        semantic_group=action.semantic_group, intentions=action.intentions,
    )
    take.sources(1.0)
    return take


def user_take(catalogue: Catalogue, file: Path, labels: tuple[str, ...], aligned: str | None,
              misaligned: str | None, licence: str, partner: Path | None = None,
              options: ReadOptions = AS_FOUND, *, group: str | None = None) -> RecordedTake:
    """Return a user's own motion capture as a take: one file, or two files of one scene.

    A single file may hold both people. If the library has an action of one of the labels, the take
    gets its backgrounds, its semantic group unless ``group`` is given, and, if it has only one, its
    hand shape. Without a label, the prompt of a text-to-motion model becomes the label. Raises
    RequestError if a file has no motion of a single person, and for an empty licence.
    """
    if not licence.strip():
        raise RequestError("--licence is empty; give a value or leave it out")
    for name in (aligned, misaligned):
        if name is not None:
            catalogue.file("background", name)
    options, partner = both_people(file, partner, options)
    labels = labels or _prompt_of(file, options)
    known = action_of(catalogue, labels)
    take = RecordedTake(
        action=plain(labels[0]) if labels else file.stem, name=file.stem,
        labels=labels or (file.stem,),
        aligned=aligned or (known.aligned_background if known else None),
        misaligned=misaligned or (known.misaligned_background if known else None),
        file=file, actor="recorded", licence=licence, partner=partner, options=options,
        hand_shape=known.hand_shapes[0] if known and len(known.hand_shapes) == 1 else RELAXED,
        semantic_group=catalogue.group_named(group) if group else
        known.semantic_group if known else None,
        intentions=known.intentions if known else (),
    )
    take.sources(1.0)
    return take


def _prompt_of(file: Path, options: ReadOptions) -> tuple[str, ...]:
    """Return the prompt of a text-to-motion model as the only label; empty without one."""
    prompt = recorded(file, options).prompt if kind_of(file) in WITH_TAKES else None
    return () if prompt is None else (prompt,)


def action_of(catalogue: Catalogue, labels: tuple[str, ...]) -> Action | None:
    """Return the library's action for the first label that it has."""
    for label in labels:
        try:
            return catalogue.action(label).action
        except RequestError:
            continue
    return None
