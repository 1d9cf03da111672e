"""Find roles by the names of bones, with the tables of rigs/skeletons/bone_names.yaml."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from typing import Literal

from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once

SIDES = ("left", "right")
# Names share a beginning if there are at least MIN_NAMES, and more than this fraction has it.
MIN_NAMES = 10
MIN_COMMON_SHARE = 0.8
# Role -> (joint name, confidence from 0 to 1).
Found = dict[str, tuple[str, float]]
Names = tuple[str, ...]
PairedRole = Literal["upper_arm", "clavicle", "forearm", "hand", "thigh", "shin", "foot", "toe"]


class Aliases(Strict):
    """Names of a paired bone: ``sure`` ones always mean it, ``perhaps`` if no sure one is found."""

    sure: Names
    perhaps: Names


class BoneNames(Strict):
    """The tables of rigs/skeletons/bone_names.yaml, which explains each of them."""

    prefixes: Names
    left: Names
    right: Names
    middle: Mapping[Literal["hips", "head"], Names]
    sides: Mapping[PairedRole, Aliases]
    fingers: Mapping[Literal["thumb", "index", "middle", "ring", "pinky"], Names]
    phalanges: Mapping[Literal[0, 1, 2, 3], Names]
    systems: Mapping[str, re.Pattern[str]]


def bone_names() -> BoneNames:
    """Return the tables of bone names.

    Raises RequestError that names file, line and key if the file is damaged.
    """
    return read_yaml_once(data_file("rigs/skeletons/bone_names.yaml"), BoneNames)


def system_of(names: tuple[str, ...]) -> str:
    """Return the mocap system or rig that uses such joint names, or ``unknown``."""
    for system, pattern in bone_names().systems.items():
        if any(pattern.search(name) for name in names):
            return system
    return "unknown"


def roles_by_name(names: tuple[str, ...]) -> Found:
    """Return role -> joint name and confidence for each role that a name identifies."""
    tables = bone_names()
    known = {alias for role in tables.sides.values() for alias in (*role.sure, *role.perhaps)} | {
        alias for aliases in tables.fingers.values() for alias in aliases}
    keys: dict[str, list[tuple[str, str]]] = {"left": [], "right": [], "middle": []}
    begin = common_beginning(names)
    for name in names:
        side, words = _sided(_words(name.removeprefix(begin)) or [name.casefold()], known)
        keys[side or "middle"].append((name, "".join(words)))
    found: Found = {}
    for side in SIDES:
        found |= _one_side(side, keys[side], tables.sides)
        found |= _fingers(side, keys[side], tables)
    for role, aliases in tables.middle.items():
        ranked = [(aliases.index(key), name) for name, key in keys["middle"] if key in aliases]
        if ranked:
            found[role] = (min(ranked, key=lambda r: r[0])[1], 1.0)
    return found


def common_beginning(names: tuple[str, ...]) -> str:
    """Return the beginning that most names share, such as ``Robot_``, or an empty text."""
    begin = ""
    while len(names) >= MIN_NAMES:
        words = Counter(found[0] for name in names if (
            found := re.match(r"[^\W_]+[_ .|-]", name.removeprefix(begin))))
        word, count = max(words.items(), key=lambda item: item[1], default=("", 0))
        if count <= MIN_COMMON_SHARE * len(names):
            break
        begin += word
    return begin


def _words(name: str) -> list[str]:
    """Return a name's words in lower case, without namespace, prefixes and accents."""
    bare = re.split(r"[:|]", name)[-1]
    # Remove accents from Latin letters only: in other scripts such marks make another letter.
    apart = re.sub("[\u0300-\u036f]", "", unicodedata.normalize("NFKD", bare))
    plain = unicodedata.normalize("NFKC", apart)
    words = [w.casefold() for w in re.findall(
        r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+", plain)]
    prefixes = set(bone_names().prefixes)
    while len(words) > 1 and (words[0] in prefixes or words[0].isdigit()):
        words = words[1:]
    return words


def _sided(words: list[str], known: set[str]) -> tuple[str | None, list[str]]:
    """Return the side that a name's words contain, or None, and the other words."""
    whole = "".join(words)
    for side in SIDES:
        marks = set(getattr(bone_names(), side))
        for position in (0, -1):
            if len(words) > 1 and words[position] in marks:
                return side, words[1:] if position == 0 else words[:-1]
        for text, rest in ((words[0], words[1:]), (whole, [])):
            if text[0] in marks and text[1:] in known:
                return side, [text[1:], *rest]
    return None, words


def _one_side(side: str, keys: list[tuple[str, str]], tables: Mapping[PairedRole, Aliases]
              ) -> Found:
    """Return the roles of a side's bones; sure names are preferred to ``perhaps`` ones."""
    found: Found = {}
    for role, table in tables.items():
        match = next((name for name, key in keys if key in table.sure), None)
        if match:
            found[f"{side}_{role}"] = (match, 1.0)
    for name, key in keys:
        for role, table in tables.items():
            if key in table.perhaps and f"{side}_{role}" not in found:
                found[f"{side}_{role}"] = (name, 0.8)
                break
    return found


def _fingers(side: str, keys: list[tuple[str, str]], tables: BoneNames) -> Found:
    """Find fingers of at least two joints; some systems export one joint as a placeholder."""
    found: Found = {}
    # Fingers are numbered from 0 (Biped) or, if there is a finger 5, from 1 (Rokoko, Shogun).
    first = 1 if any(key.startswith("finger5") for _, key in keys) else 0
    for count, (finger, aliases) in enumerate(tables.fingers.items(), start=first):
        joints: dict[int, str] = {}
        for name, key in keys:
            number = _phalanx(key, aliases, tables.phalanges)
            if number is None and first == 0:
                biped = re.fullmatch(rf"finger{count}([12]?)", key)
                number = int(biped[1] or 0) + 1 if biped else None
            elif number is None:
                number = _phalanx(key, (f"finger{count}",), tables.phalanges)
            if number is not None:
                joints.setdefault(number, name)
        if finger == "thumb" and 0 in joints:
            # A thumb's metacarpal moves like a phalanx, so it counts as the thumb's first bone.
            joints = dict(enumerate((joints[number] for number in sorted(joints)), start=1))
        if 1 in joints and 2 in joints:
            found |= {f"{side}_{finger}{n}": (joints[n], 1.0) for n in (1, 2, 3) if n in joints}
    return found


def _phalanx(key: str, aliases: Names, endings: Mapping[Literal[0, 1, 2, 3], Names]
             ) -> int | None:
    """Return a finger bone's number by its name: 0 for the metacarpal, 1 to 3 for phalanges."""
    for number, words in endings.items():
        if re.fullmatch(f"(hand|f)?({'|'.join(aliases)})({'|'.join(words)})", key):
            return number
    return None
