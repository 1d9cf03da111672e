"""The subjects of questions: performances that clips show, and the answers right for them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from mimegen.base.arrays import BoolArray
from mimegen.base.errors import RequestError
from mimegen.base.files import Stamp, stamp
from mimegen.base.paths import data_files, data_folder
from mimegen.base.yaml_file import read_yaml
from mimegen.evaluation.question import Group, stated_group
from mimegen.manifest.row import Row

_WORD = re.compile(r"[^\W_]+")
_PARTNER = re.compile(r"^partner:", re.MULTILINE)


class KnownAction(BaseModel):
    """The fields of an ``action.yaml`` that questions need; others are ignored.

    ``users`` means that it is in a user's library; ``sets`` are its names in published sets;
    ``people`` is the number of people that its scores show.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    labels: tuple[str, ...]
    aliases: tuple[str, ...] = ()
    semantic_group: Group = None
    intentions: tuple[str, ...] = ()
    sets: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    ambiguous: bool = False
    users: bool = False
    people: int = 1


@dataclass(frozen=True)
class Subject:
    """A performance: ``text`` is the right answer, ``accepted`` are all that would be right.

    ``aliases`` are further names of its action.
    """

    action: str
    name: str
    text: str
    accepted: frozenset[str]
    group: str | None
    people: int = 1
    aliases: frozenset[str] = frozenset()

    @cached_property
    def words(self) -> frozenset[str]:
        """The accepted texts in plain form."""
        return frozenset(_plain(text) for text in self.accepted)

    @cached_property
    def names(self) -> frozenset[str]:
        """The accepted texts and the aliases in plain form."""
        return self.words | {_plain(alias) for alias in self.aliases}


def misleading_pairs(subjects: Sequence[Subject]) -> BoolArray:
    """Return of which pairs each subject's text is a wrong answer for the other, symmetric.

    It is not if both are of one action or group, if they have a name in common, or if one's words
    are part of the other's: who is walking a dog is walking. Case does not count. All pairs are
    found at once, since a library has some hundred thousand.
    """
    words, of_words = _incidence([one.words for one in subjects])
    _, of_names = _incidence([one.names for one in subjects])
    _, of_groups = _incidence([frozenset(() if one.group is None else (one.group,))
                               for one in subjects])
    _, of_actions = _incidence([frozenset({one.action}) for one in subjects])
    # Counts are whole numbers below 2**24, which sums of float32 keep exactly.
    within = np.array([[one in other for other in words] for one in words], dtype=np.float32)
    parts = of_words @ within @ of_words.T
    alike = sum((of @ of.T for of in (of_names, of_groups, of_actions)), parts + parts.T)
    return np.asarray(alike == 0)


def _incidence(sets: Sequence[frozenset[str]]) -> tuple[list[str], NDArray[np.float32]]:
    """Return all members of some sets, and which set has which: 1 or 0, (set, member)."""
    members = sorted(frozenset().union(*sets))
    return members, np.array([[one in some for one in members] for some in sets],
                             dtype=np.float32).reshape(len(sets), len(members))


def _plain(text: str) -> str:
    """Return a text's words in lower case, separated and surrounded by blanks."""
    words = _WORD.findall(text.casefold())
    return f" {' '.join(words) or text} "


def known_actions() -> dict[str, KnownAction]:
    """Return the actions and cues of all libraries by id. Raises RequestError as ``read_yaml``."""
    files = (*data_files("cues/*/action.yaml"), *data_files("mocap/*/action.yaml"))
    pairs = {file.parent for file in data_files("mocap/*/*.score.yaml")
             if _is_of_two(file, stamp(file))}
    read = [_known(file, file.parent in pairs, stamp(file)) for file in files]
    return {action.id: action for action in read}


@lru_cache(maxsize=4096)
def _known(file: Path, of_two: bool, written: Stamp | None) -> KnownAction:
    return read_yaml(file, KnownAction).model_copy(update={
        "users": not file.is_relative_to(data_folder()), "people": 1 + of_two})


@lru_cache(maxsize=4096)
def _is_of_two(score: Path, written: Stamp | None) -> bool:
    """Return whether a score has a partner; its text is searched, since parsing would take long."""
    return _PARTNER.search(score.read_text(encoding="utf-8", errors="replace")) is not None


def people_count(row: Row) -> int:
    """Return how many people a clip shows: one or two."""
    return 2 if row.partner_avatar or (row.performers or 1) > 1 else 1


def subject_of_action(action: KnownAction, asks: str) -> Subject | None:
    """Return an action as a subject; None if it has no text of the kind asked for."""
    texts = action.labels if asks == "label" else action.intentions
    if not texts:
        return None
    return Subject(action.id, action.id, texts[0], frozenset({*action.labels, *texts}),
                   action.semantic_group, action.people, frozenset(action.aliases))


def subject_of_row(row: Row, known: dict[str, KnownAction], asks: str) -> Subject:
    """Return the performance that a row's clip shows; it is the same for all its variants.

    Fields missing from the row are taken from the library. The group in a user's current
    ``action.yaml`` takes precedence over that in the row, which is from the time of rendering.
    Raises RequestError if an intention is asked for and none is known.
    """
    action = known.get(row.action)
    group = _group(stated_group(row.semantic_group), action)
    intentions = row.intentions or (action.intentions if action else ())
    if asks == "intention" and not intentions:
        raise RequestError(f"{row.sample_id}: no intention is known; add intentions: to the"
                           f" action.yaml of {row.action} and render again")
    text = row.labels[0] if asks == "label" else intentions[0]
    name = "/".join((row.action, row.take, str(row.seed), row.style or ""))
    return Subject(row.action, name, text, frozenset({*row.labels, *intentions}), group,
                   people_count(row), frozenset(action.aliases if action else ()))


def _group(of_row: str | None, action: KnownAction | None) -> str | None:
    present = action.semantic_group if action else None
    return (present or of_row) if action and action.users else (of_row or present)


def performance_of(row: Row) -> tuple[object, ...]:
    """Return the key of the performance that a clip shows, whoever performs it."""
    return (row.action, row.take, row.seed, row.style, row.mirrored, row.reversed, row.tempo,
            row.stance, row.intensity, row.frequency)


def forwards(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of clips that are not played backwards, whose labels are right.

    Raises RequestError if all are played backwards.
    """
    found = [row for row in rows if not row.reversed]
    if rows and not found:
        raise RequestError("all clips are played backwards, so their labels may be wrong of what"
                           " they show; only --format pair and probe ask about such clips")
    return found


def unique(subjects: Iterable[Subject]) -> list[Subject]:
    """Return the subjects with distinct names, sorted by name."""
    return sorted({subject.name: subject for subject in subjects}.values(),
                  key=lambda subject: subject.name)
