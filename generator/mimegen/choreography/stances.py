"""Stances: what a cue's score stands on, so that one score serves who stands, sits and talks.

They lie beside the folders of cues and are no part of what performs scores: takes of cues have what
comes of them in their keys, and no other take renews where they change.
"""

from pathlib import Path
from typing import Any

from pydantic import Field

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.paths import data_folders
from mimegen.base.yaml_file import Strict, YamlFile

STANCES = "stances.yaml"
Content = dict[str, Any]


class Stance(Strict):
    """What a stance gives to a score: see the head of ``cues/stances.yaml``.

    Its parts are those of a score, and are checked as such once they are in one.
    """

    about: str
    facing: float = 0.0
    balanced: bool = True
    props: Content = Field(default_factory=dict)
    hand_states: Content = Field(default_factory=dict)
    begins: Content = Field(default_factory=dict)
    ends: Content = Field(default_factory=dict)
    partner: Content | None = None


def stances_file(score: Path) -> Path:
    """Return the stances of a cue's score: beside its cue's folder, or those of a library."""
    folders = [score.parent.parent, *(folder / "cues" for folder in reversed(data_folders()))]
    found = [folder / STANCES for folder in folders if (folder / STANCES).is_file()]
    if not found:
        raise RequestError(f"{score}: requires stances, but {folders[0]} has no {STANCES}")
    return found[0]


def staged(document: YamlFile, wanted: str | None) -> Content:
    """Return a cue's score with what its stance gives; its own words win.

    ``wanted`` is one of the score's ``stances``, None its first. Raises RequestError for another.
    """
    content, names = dict(document.content), document.content["stances"]
    if not isinstance(names, list) or not names or not all(isinstance(one, str) for one in names):
        raise document.error(("stances",), "expected the stances it may be performed in")
    stance = _stance(document, names, wanted)
    phases = content.get("phases")
    if not isinstance(phases, list) or not all(isinstance(phase, dict) for phase in phases):
        raise document.error(("phases",), "expected lines with 'at:' and tracks")
    for key in ("props", "hand_states"):
        if not isinstance(content.get(key) or {}, dict):
            raise document.error((key,), f"expected a mapping of names, got {content[key]!r}")
    duration = content.get("duration", 0)
    if not isinstance(duration, int | float):
        raise document.error(("duration",), f"expected seconds, got {duration!r}")
    return {
        "facing": stance.facing, "balanced": stance.balanced, **content,
        "props": stance.props | (content.get("props") or {}),
        "hand_states": stance.hand_states | (content.get("hand_states") or {}),
        "phases": _with_ends(_over(stance.begins, phases), stance.ends, duration),
        **({"partner": _until(stance.partner, duration)} if stance.partner else {}),
    }


def _stance(document: YamlFile, names: list[str], wanted: str | None) -> Stance:
    file = stances_file(document.path)
    known = YamlFile(file)
    for name in names:
        if name not in known.content:
            raise document.error(("stances",), f"unknown stance {name!r}"
                                               f"{near_misses(str(name), known.content)}")
    name = wanted or names[0]
    if name not in names:
        raise RequestError(f"{document.path}: unknown stance '{name}'"
                           f"{near_misses(name, names)}")
    return known.parsed(Stance, known.content[name])


def _over(begins: Content, phases: list[Content]) -> list[Content]:
    """Lay a score's first line over what the stance begins with."""
    first = phases[0] if phases else {"at": 0}
    own = {"left_hand": "hands", "right_hand": "hands", "left_foot": "feet", "right_foot": "feet"}
    below = {track: key for track, key in begins.items() if own.get(track) not in first}
    return [below | first, *phases[1:]]


def _with_ends(phases: list[Content], ends: Content, duration: float) -> list[Content]:
    """Give the last moment what the stance ends with, but for what the score says itself."""
    last = phases[-1]
    if last.get("at") == duration:
        return [*phases[:-1], ends | last]
    return [*phases, {"at": duration, **ends}]


def _until(partner: Content, duration: float) -> Content:
    return partner | {"phases": [one for one in partner["phases"] if one["at"] <= duration]}
