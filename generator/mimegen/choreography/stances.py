"""Stances: the posture beneath a cue's score, so that one score serves for standing and sitting.

Their file lies beside the folders of cues and is no part of the code that performs scores. Content
keys of a cue's takes include the resulting score, so a changed stance renews only those takes.
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
    """The parts of a score that a stance supplies: see the head of ``cues/stances.yaml``.

    They are validated as part of the score that they are merged into.
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
    """Return the file of stances for a cue's score: beside the cue's folder, or of a library.

    Raises RequestError if there is none.
    """
    folders = [score.parent.parent, *(folder / "cues" for folder in reversed(data_folders()))]
    found = [folder / STANCES for folder in folders if (folder / STANCES).is_file()]
    if not found:
        raise RequestError(f"{score}: requires stances, but {folders[0]} has no {STANCES}")
    return found[0]


def staged(document: YamlFile, wanted: str | None) -> Content:
    """Return the content of a cue's score merged with a stance; the score's own values win.

    ``wanted`` is one of the score's ``stances``, None for the first. Raises RequestError for any
    other stance.
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
    """Return the phases with the stance's beginning under the first; its own tracks win."""
    first = phases[0] if phases else {"at": 0}
    own = {"left_hand": "hands", "right_hand": "hands", "left_foot": "feet", "right_foot": "feet"}
    below = {track: key for track, key in begins.items() if own.get(track) not in first}
    return [below | first, *phases[1:]]


def _with_ends(phases: list[Content], ends: Content, duration: float) -> list[Content]:
    """Return the phases with the stance's ending in the last; the score's own tracks win."""
    last = phases[-1]
    if last.get("at") == duration:
        return [*phases[:-1], ends | last]
    return [*phases, {"at": duration, **ends}]


def _until(partner: Content, duration: float) -> Content:
    return partner | {"phases": [one for one in partner["phases"] if one["at"] <= duration]}
