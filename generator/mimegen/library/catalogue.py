"""The catalogue of rigs/, mocap/, cues/, directed/, scenes/ and so on, and of users' libraries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pydantic import RootModel

from mimegen.base.errors import RequestError, did_you_mean, near_misses
from mimegen.base.paths import data_file, data_folder
from mimegen.base.similar_names import is_slip, nearest, stems
from mimegen.base.yaml_file import read_yaml_once
from mimegen.choreography.action import read_action
from mimegen.library.entry import SCORE_SUFFIX, Entry
from mimegen.library.face_entries import face_entries
from mimegen.library.hand_entries import hand_entries
from mimegen.library.naming import (
    NamedAction,
    check_codes,
    names_in_sets,
    names_of_actions,
    plain,
    the_one,
)
from mimegen.library.sets import ActionSet, read_sets
from mimegen.library.takefile import mocap_takes


@dataclass(frozen=True)
class Catalogue:
    """Everything that can be requested by name. Later folders override names of earlier ones."""

    folders: tuple[Path, ...]

    @classmethod
    def with_libraries(cls, libraries: tuple[Path, ...]) -> "Catalogue":
        """Return the catalogue of mimegen's own library and the user's libraries.

        Raises RequestError if a library is not a folder.
        """
        for library in libraries:
            if not library.is_dir():
                raise RequestError(f"{library}: no such folder; --library expects a folder with"
                                   " rigs/, mocap/, cues/, scenes/, backgrounds/ or"
                                   " render_configs/")
        return cls((data_folder(), *libraries))

    @property
    def libraries(self) -> tuple[Path, ...]:
        """The user's own libraries."""
        return self.folders[1:]

    @cached_property
    def actions(self) -> dict[str, Entry]:
        """The library's actions by id, sorted."""
        return self._entries("mocap")

    @cached_property
    def recognisable(self) -> dict[str, Entry]:
        """The actions that viewers can name: all except those marked as ambiguous."""
        return {name: entry for name, entry in self.actions.items() if not entry.action.ambiguous}

    @cached_property
    def cues(self) -> dict[str, Entry]:
        """The nonverbal cues by id, sorted; like actions, but never included in "all"."""
        return self._entries("cues")

    @cached_property
    def directed(self) -> dict[str, Entry]:
        """Gestures by id, sorted, each with a take for every direction; not included in "all"."""
        return self._entries("directed")

    @cached_property
    def hands(self) -> dict[str, Entry]:
        """Actions of the hands, letters and hand shapes by id, sorted; not included in "all".

        Raises RequestError if their table is invalid.
        """
        return dict(hand_entries())

    @cached_property
    def emotions(self) -> dict[str, Entry]:
        """Facial emotions by id, sorted, and a neutral face; not included in "all"."""
        return dict(sorted(face_entries().items()))

    @cached_property
    def all_entries(self) -> dict[str, Entry]:
        """Everything that can be requested as an action, by id, sorted; actions beat namesakes."""
        return dict(sorted((self.directed | self.emotions | self.hands | self.cues
                            | self.actions).items()))

    def _entries(self, kind: str) -> dict[str, Entry]:
        """Return actions by id, sorted.

        A folder without an action.yaml adds its takes to the action of that name in an earlier
        folder.
        """
        entries: dict[str, Entry] = {}
        for place in [place for folder in self.folders for place in sorted(folder.glob(f"{kind}/*"))
                      if place.is_dir() and not place.name.startswith(".")]:
            known = entries.get(place.name)
            if (place / "action.yaml").exists():
                entries[place.name] = Entry(read_action(place / "action.yaml"), (place,))
            elif known:
                entries[place.name] = Entry(known.action, (place, *known.folders))
            elif any(place.glob(f"*{SCORE_SUFFIX}")) or mocap_takes(place):
                raise RequestError(f"{place}: has no action.yaml, and there is no action"
                                   f" '{place.name}'{near_misses(place.name, entries)}")
        return dict(sorted(entries.items()))

    @cached_property
    def characters(self) -> dict[str, Path]:
        """The character files by name, sorted."""
        return self._files("rigs")

    @cached_property
    def backgrounds(self) -> dict[str, Path]:
        """The background files by name, sorted."""
        return self._files("backgrounds")

    @cached_property
    def scenes(self) -> dict[str, Path]:
        """The scene files by name, sorted."""
        return self._files("scenes")

    @cached_property
    def configs(self) -> dict[str, Path]:
        """The render config files by name, sorted."""
        return self._files("render_configs")

    def _files(self, kind: str) -> dict[str, Path]:
        found = {file.stem: file for folder in self.folders
                 for file in (folder / kind).glob("*.yaml")}
        return dict(sorted(found.items()))

    def action(self, name: str) -> Entry:
        """Return the action or cue with this id, label or alias, in any spacing and case.

        The alias of a single take selects that take; names from published sets are used if nothing
        else has the name. Raises RequestError, with similar names, if there is no such action or
        several.
        """
        word = plain(name)
        found = self._action_names.get(word) or self._names_in_sets.get(word)
        if not found:
            raise RequestError(f"no action '{name}'{self._like(name)}")
        action, take = the_one(name, found)
        return replace(self.entry(action), asked=take)

    def entry(self, action: str) -> Entry:
        """Return the action, cue or hand action with exactly this id."""
        return self.all_entries[action]

    @cached_property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The ids of the actions in each semantic group, sorted; other actions are left out."""
        found: dict[str, list[str]] = {}
        for name, entry in self.actions.items():
            if entry.action.semantic_group is not None:
                found.setdefault(entry.action.semantic_group, []).append(name)
        return {group: tuple(found[group]) for group in sorted(found)}

    def group_named(self, name: str) -> str:
        """Return a semantic group in the library's spelling; a name that it lacks stays."""
        return {plain(group): group for group in self.groups}.get(plain(name), name)

    def near_action(self, name: str) -> str | None:
        """Return the action or cue whose name is a likely typo away from this one, if any."""
        close = [near for near in nearest(plain(name), self._action_names)
                 if is_slip(plain(name), near)]
        return self._action_names[close[0]][0].action if close else None

    def near_names(self, name: str) -> list[str]:
        """Return names of actions similar to a name, best first; empty if an action has it."""
        word = plain(name)
        return [] if word in self._action_names else _nearest_names(word, self._action_names)

    def _like(self, name: str) -> str:
        """Return a hint at what a name may mean: similar actions, or those of its group."""
        wanted = _members_called(plain(name), self.sets)
        if wanted:
            return f": {wanted}, which no action of this library is yet"
        near = self.near_names(name)
        if near:
            return did_you_mean(near)
        for group in _groups_of(name):
            if group in self.groups:
                return (f" (the group '{group}' contains: {', '.join(self.groups[group])}; mimegen"
                        " list actions shows all)")
        return (f" (mimegen list actions shows all {len(self.actions)}, mimegen list groups shows"
                " them by group)")

    @cached_property
    def _action_names(self) -> dict[str, tuple[NamedAction, ...]]:
        return names_of_actions([entry.action for entry in self.actions.values()],
                                [entry.action for entry in self.cues.values()],
                                [entry.action for entry in self.hands.values()],
                                [entry.action for entry in self.emotions.values()],
                                [entry.action for entry in self.directed.values()])

    @cached_property
    def _names_in_sets(self) -> dict[str, tuple[NamedAction, ...]]:
        entries = self.all_entries.values()
        return names_in_sets([(entry.file, entry.action) for entry in entries], self.sets)

    @cached_property
    def sets(self) -> Mapping[str, ActionSet]:
        """The published sets of actions, by name."""
        return read_sets(self.folders)

    def in_set(self, name: str) -> dict[str, Entry]:
        """Return the actions, cues and hand actions of a published set by id, sorted; may be empty.

        Raises RequestError, with similar names, if there is no such set.
        """
        if name not in self.sets:
            raise RequestError(f"no set of actions '{name}'{near_misses(name, self.sets)}")
        entries = self.all_entries
        for entry in entries.values():
            check_codes(entry.file, name, entry.action.sets.get(name, ()), self.sets)
        return {key: entry for key, entry in entries.items() if name in entry.action.sets}

    def missing_from(self, name: str) -> tuple[str, ...]:
        """Return the codes of a published set that no action has. Raises as ``in_set``."""
        has = {code for entry in self.in_set(name).values() for code in entry.action.sets[name]}
        return tuple(code for code in self.sets[name].members if code not in has)

    def file(self, kind: str, name: str) -> Path:
        """Return the file of a character, background, config or scene, by name or path.

        Raises RequestError, with similar names, if there is none.
        """
        files = {"character": self.characters, "background": self.backgrounds,
                 "config": self.configs, "scene": self.scenes}[kind]
        if name in files:
            return files[name]
        path = Path(name)
        if path.suffix and path.is_file():
            return path
        if path.suffix:
            raise RequestError(f"{path}: no such file (expected a {kind})")
        raise RequestError(f"no {kind} '{name}'{near_misses(name, files)}")


def _nearest_names(word: str, names: Mapping[str, Sequence[NamedAction]]) -> list[str]:
    """Return, for each action with names similar to a word, the most similar one, best first.

    Names with digits, such as Boxing03, are other people's file names; only words with digits match
    them.
    """
    found: dict[str, str] = {}
    for name in nearest(word, (name for name in names if _has_digit(word) or not _has_digit(name))):
        found.setdefault(names[name][0].action, name)
    return list(found.values())


def _members_called(word: str, sets: Mapping[str, ActionSet]) -> str:
    """Return what a code means in the sets that have it, as "'wear a shoe' of ntu120".

    Empty if no set has it.
    """
    return " and ".join(f"'{members_of}' of {name}" for name, members in sets.items()
                        for code, members_of in members.members.items()
                        if _has_digit(word) and word in map(plain, members.names_of(code)))


def _has_digit(text: str) -> bool:
    return any(letter.isdigit() for letter in text)


def _groups_of(name: str) -> list[str]:
    """Return the semantic groups that a name's words belong to, or that it names."""
    known = read_yaml_once(data_file("mocap/group_words.yaml"),
                           RootModel[dict[str, tuple[str, ...]]]).root
    wanted = stems(name)
    return [group for group, words in known.items()
            if not wanted.isdisjoint(stems(" ".join((group, *words))))]
