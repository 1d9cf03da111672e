"""Questions about several clips: which shows the same performance, person or movement.

The clips to choose from differ only in what is asked about: side, place, person and render config
are the same, or equally frequent. Their order is random, and the answer is in each position equally
often, so that guessing without the clips is right at chance level.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.files import content_key
from mimegen.base.seeds import generator
from mimegen.base.yaml_file import Strict, read_yaml
from mimegen.evaluation.making import clip_fields, versions
from mimegen.evaluation.opaque import opaque_name
from mimegen.evaluation.question import FurtherClip, Question, named_by_content
from mimegen.evaluation.sampling import FrameSampling
from mimegen.evaluation.subjects import (
    KnownAction,
    known_actions,
    performance_of,
    subject_of_row,
)
from mimegen.evaluation.templates import FOLDER, ChoicePrompt, filled
from mimegen.manifest.row import Row

# Number of clips to choose from besides the first one, and of clips among which one is odd.
CANDIDATES = 3
ODD_ONE_OUT_CLIPS = 4
DOTS = "pointlight"
_DRESSED = re.compile(r"(random_\d+)_(\d+)")


class MatchWording(Strict):
    """The prompt with ``{count}``, ``{question}`` and ``{options}``, and each match's question."""

    about: str
    clip: str
    instruction: ChoicePrompt
    questions: dict[str, str]


def read_match_wording(file: Path | None) -> MatchWording:
    """Return a user's wording, or mimegen's.

    Raises RequestError as ``read_yaml`` does, and if a match has no question.
    """
    wording = read_yaml(file or FOLDER / "matches.yaml", MatchWording)
    for name in MATCHES:
        if name not in wording.questions:
            raise RequestError(f"{file}: questions: expected one for {name}")
    return wording


def parse_matches(text: str) -> tuple[str, ...]:
    """Return the matches in ``A,B`` or ``all``. Raises RequestError for an unknown one."""
    if text.strip() == "all":
        return tuple(MATCHES)
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in MATCHES:
            raise RequestError(f"--probe {name}: --format match has no such probe"
                               f"{near_misses(name, MATCHES)}")
    return names


@dataclass(frozen=True)
class MatchRequest:
    """Which matches to ask, their wording, and which frames of each clip to show."""

    matches: tuple[str, ...]
    wording: MatchWording
    seed: int = 0
    sampling: FrameSampling | None = None
    sampling_text: str = "video"

    def frames(self, row: Row) -> list[int] | None:
        """Return the numbers of a clip's frames to show; None for all of it."""
        return self.sampling.frames(row.frames, row.fps) if self.sampling else None

    def window(self, row: Row) -> list[float]:
        """Return the start and end in seconds of the part of a clip that is shown."""
        whole = [0, row.frames / row.fps]
        return self.sampling.window(row.frames, row.fps) if self.sampling else whole


@dataclass(frozen=True)
class _Choice:
    """The clips of a question: those ``before``, in order, then the ``right`` and ``wrong`` ones.
    """

    right: Row
    wrong: tuple[Row, ...]
    before: tuple[Row, ...] = ()

    @property
    def about(self) -> Row:
        """The clip that the question is about."""
        return self.before[0] if self.before else self.right


class _Clips:
    """All clips, indexed by what must be equal among the clips to choose from.

    ``by_look`` is by look, side and performance; ``by_performance`` by performance; ``by_setting``
    by setting, side and performance; ``keys_of_person`` lists the keys of ``by_setting`` by person;
    ``by_place`` is by setting and action.
    """

    def __init__(self, rows: Sequence[Row], seed: int) -> None:
        self.seed = seed
        self.by_look: dict[Any, dict[Any, dict[Any, Row]]] = defaultdict(lambda: defaultdict(dict))
        self.by_performance: dict[Any, list[Row]] = defaultdict(list)
        self.by_setting: dict[Any, dict[str, Row]] = defaultdict(dict)
        self.keys_of_person: dict[str, dict[Any, None]] = defaultdict(dict)
        self.by_place: dict[Any, dict[str, dict[Any, Row]]] = defaultdict(lambda: defaultdict(dict))
        for row in sorted(rows, key=lambda row: row.sample_id):
            if row.type != DOTS:
                self._add(row)

    def _add(self, row: Row) -> None:
        """Add a clip to all indexes."""
        side, done = _side(row), performance_of(row)
        self.by_look[_appearance(row)][side].setdefault(done, row)
        self.by_performance[done].append(row)
        self.by_place[_setting(row)][row.action].setdefault((_cast(row), side), row)
        if row.avatar is not None and row.partner_avatar is None:
            key = _setting(row), side, done
            self.by_setting[key].setdefault(row.avatar, row)
            self.keys_of_person[person_and_clothes(row.avatar)[0]][key] = None

    def drawn(self, found: Sequence[Any], *name: str) -> list[Any]:
        """Return items in a random order fixed by a name."""
        return [found[int(place)] for place in generator(
            self.seed, "matching", *name).permutation(len(found))]


def _setting(row: Row) -> tuple[Any, ...]:
    return row.background_name, row.set_seed, row.render_config_name, str(row.faults or "")


def _cast(row: Row) -> tuple[str | None, str | None]:
    return row.avatar, row.partner_avatar


def _appearance(row: Row) -> tuple[Any, ...]:
    """Return everything visible in a clip except the performance and the side."""
    return (*_cast(row), *_setting(row))


def _side(row: Row) -> float:
    return float(row.angle or 0) % 360


def person_and_clothes(avatar: str) -> tuple[str, str | None]:
    """Return a character's person, and whose clothes they wear, or None for their own."""
    dressed = _DRESSED.fullmatch(avatar)
    return (dressed[1], dressed[2]) if dressed else (avatar, None)


def _same_performance(row: Row, clips: _Clips) -> _Choice | None:
    """Choose the performance from another side; distractors from that side, same action first."""
    if row.type == DOTS:
        return None
    sides = clips.by_look[_appearance(row)]
    for side in clips.drawn(sorted(sides.keys() - {_side(row)}), "side", row.sample_id):
        right = sides[side].get(performance_of(row))
        wrong = [one for one in sides[side].values() if _has_other_movement(one, row)]
        wrong = sorted(clips.drawn(wrong, "performances", row.sample_id),
                       key=lambda one: one.action != row.action)
        if right is not None and len(wrong) >= CANDIDATES - 1:
            return _Choice(right, tuple(wrong[:CANDIDATES - 1]), (row,))
    return None


def _has_other_movement(one: Row, other: Row) -> bool:
    """Return whether two takes differ by more than their style, tempo or mirroring."""
    return (one.action, one.take, one.seed) != (other.action, other.take, other.seed)


def _same_person(row: Row, clips: _Clips) -> _Choice | None:
    """Choose the person in other clothes in another performance; others dressed and moving alike.
    """
    if row.type == DOTS or row.avatar is None or row.partner_avatar is not None:
        return None
    person, own = person_and_clothes(row.avatar)
    keys = [key for key in clips.keys_of_person[person]
            if key[1:] != (_side(row), performance_of(row))]
    for key in clips.drawn(keys, "people", row.sample_id):
        by_clothes: dict[str | None, dict[str, Row]] = defaultdict(dict)
        for avatar, one in clips.by_setting[key].items():
            who, clothes = person_and_clothes(avatar)
            by_clothes[clothes][who] = one
        for clothes, there in by_clothes.items():
            wrong = [one for who, one in there.items() if who != person]
            if clothes != own and person in there and len(wrong) >= CANDIDATES - 1:
                wrong = clips.drawn(wrong, "others", row.sample_id)
                return _Choice(there[person], tuple(wrong[:CANDIDATES - 1]), (row,))
    return None


def _dots(row: Row, clips: _Clips) -> _Choice | None:
    """Choose the body that moves as the dots do; distractors are its other actions, same side."""
    if row.type != DOTS or str(row.config_name).partition("@")[0] != DOTS:
        return None
    for right in clips.drawn(clips.by_performance[performance_of(row)], "dots", row.sample_id):
        there = clips.by_look[_appearance(right)][_side(right)].values()
        wrong = clips.drawn([one for one in there if one.action != row.action],
                            "actions", row.sample_id)
        if len(wrong) >= CANDIDATES - 1:
            return _Choice(right, tuple(wrong[:CANDIDATES - 1]), (row,))
    return None


def _odd_one_out(row: Row, clips: _Clips) -> _Choice | None:
    """Choose the odd action among clips of another one; no two clips look alike."""
    if row.type == DOTS:
        return None
    there = clips.by_place[_setting(row)]
    for action in clips.drawn(sorted(there.keys() - {row.action}), "odd", row.sample_id):
        looks = [one for look, one in there[action].items() if look != (_cast(row), _side(row))]
        same_group = looks and looks[0].semantic_group is not None \
            and looks[0].semantic_group == row.semantic_group
        if len(looks) >= ODD_ONE_OUT_CLIPS - 1 and not same_group:
            wrong = clips.drawn(looks, "looks", row.sample_id)
            return _Choice(row, tuple(wrong[:ODD_ONE_OUT_CLIPS - 1]))
    return None


MATCHES: dict[str, Callable[[Row, _Clips], _Choice | None]] = {
    "same_performance": _same_performance, "same_person": _same_person, "dots": _dots,
    "odd_one_out": _odd_one_out}
# What to render if no clip can be asked about by a match.
ADD = {"same_performance": "render several actions or seeds from several sides",
       "same_person": "render several people in the same clothes and in others"
                      " (--character random:SEED:CLOTHES)",
       "dots": "render pointlight variants beside others of several actions",
       "odd_one_out": "render several actions in four or more variants before the same background"}


def match_questions(rows: Sequence[Row], request: MatchRequest) -> list[Question]:
    """Return the questions that clips allow, at most one of each match for each clip.

    Raises RequestError if there are none.
    """
    clips, known = _Clips(rows, request.seed), known_actions()
    made: list[Question] = []
    for match in request.matches:
        chosen = [choice for row in sorted(rows, key=lambda row: row.sample_id)
                  if (choice := MATCHES[match](row, clips)) is not None]
        count = len(chosen)
        places = generator(request.seed, "matching", match, "places").permutation(count)
        made += [_question(match, choice, int(place) % (len(choice.wrong) + 1), known, request)
                 for choice, place in zip(chosen, places, strict=True)]
    if not made:
        raise RequestError("no question about several clips can be asked of these rows: "
                           + "; ".join(f"{name}: {ADD[name]}" for name in request.matches))
    return named_by_content(made)


def _question(match: str, choice: _Choice, place: int, known: dict[str, KnownAction],
              request: MatchRequest) -> Question:
    """Return a question whose right answer is at ``place`` among the clips to choose from."""
    wording, about = request.wording, choice.about
    shown = [*choice.before, *choice.wrong]
    shown.insert(len(choice.before) + place, choice.right)
    options = [wording.clip.replace("{number}", str(number + 1))
               for number in range(len(choice.before), len(shown))]
    question = wording.questions[match]
    prompt = wording.instruction.replace("{count}", str(len(shown)))
    subject = subject_of_row(about, known, "label")
    first, *rest = shown
    return Question(
        **clip_fields(first, request.seed) | {
            "action": about.action, "take": about.take, "variant": None},
        question_id=content_key("match", match, request.seed, about.sample_id)[:16],
        format="match", prompt=filled(prompt.replace("{question}", question), options),
        question=question, options=options, answer=options[place], labels=[options[place]],
        asks=match, category=match, semantic_group=subject.group, performance=subject.name,
        window=request.window(first), sampling=request.sampling_text,
        frames=request.frames(first), further=[
            FurtherClip(sample_id=row.sample_id, clip=opaque_name(row, request.seed),
                        file_name=row.file_name, frames=request.frames(row)) for row in rest],
        versions=versions(wording.about))
