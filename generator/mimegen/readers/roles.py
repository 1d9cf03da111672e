"""Which bone is which: joint names, and where they say nothing the tree's shape, to roles.

Roles are ``hips``, ``spine1`` ..., ``chest``, ``neck1`` ..., ``head`` and, after ``left_`` or
``right_``, ``clavicle upper_arm forearm hand thigh shin foot toe`` and ``thumb1`` to ``pinky3``.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from mimegen.errors import RequestError
from mimegen.motion import Skeleton
from mimegen.motion.quaternions import FloatArray
from mimegen.paths import data_folder
from mimegen.readers.shape import roles_by_shape

SIDES = ("left", "right")
LIMBS = (("clavicle", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe"))
ESSENTIAL = ("hips", "head", *(f"{side}_{part}" for side in SIDES for part in
             ("upper_arm", "forearm", "thigh", "shin", "foot")))


@dataclass(frozen=True)
class Roles:
    """``joints`` gives the joint's name for each role found, ``confidence`` 0 to 1 for each."""

    joints: Mapping[str, str]
    confidence: Mapping[str, float]


def find_roles(skeleton: Skeleton, places: FloatArray | None = None,
               file: str = "skeleton", mapping: Path | None = None) -> Roles:
    """Find the roles of a skeleton's joints.

    ``places`` (J, 3) is a natural pose to judge shapes by, where the rest pose is none.
    Raises RequestError, naming the doubtful bones, where an essential role stays without a joint.
    """
    named = _roles_by_name(skeleton)
    missing = [role for role in ESSENTIAL if role not in named]
    shaped = roles_by_shape(skeleton, skeleton.heads if places is None else places) \
        if missing else {}
    confidence = dict.fromkeys(named, 1.0) | {r: c for r, (_, c) in named.items()}
    joints = {role: joint for role, (joint, _) in named.items()}
    if missing and all(role in shaped for role in ESSENTIAL):
        joints, confidence = dict(shaped), dict.fromkeys(shaped, 0.6)
    elif missing:
        free = [name for name in skeleton.names if name not in joints.values()]
        raise RequestError(
            f"{file}: cannot tell which bone is the {missing[0].replace('_', ' ')}"
            f" (nothing fits {', '.join(missing[:4])}; not recognised: {', '.join(free[:4])});"
            " expected the skeleton of one whole person"
        )
    trunk = _trunk(skeleton, joints)
    return Roles(trunk | joints, dict.fromkeys(trunk, 0.9) | confidence)


@cache
def bone_names() -> dict[str, Any]:
    """Return the tables of rigs/skeletons/bone_names.yaml."""
    path = data_folder() / "rigs" / "skeletons" / "bone_names.yaml"
    tables: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tables


def _words(name: str) -> list[str]:
    plain = re.split(r"[:|]", name)[-1]
    words = [w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+",
                                           plain)]
    prefixes = set(bone_names()["prefixes"])
    while len(words) > 1 and (words[0] in prefixes or words[0].isdigit()):
        words = words[1:]
    return words


def _sided(words: list[str], known: set[str]) -> tuple[str | None, list[str]]:
    tables = bone_names()
    for side in SIDES:
        marks = set(tables[side])
        for position in (0, -1):
            if len(words) > 1 and words[position] in marks:
                return side, words[1:] if position == 0 else words[:-1]
        if words[0][0] == side[0] and words[0][1:] in known:
            return side, [words[0][1:], *words[1:]]
    return None, words


def _roles_by_name(skeleton: Skeleton) -> dict[str, tuple[str, float]]:
    tables = bone_names()
    sides, fingers = tables["sides"], tables["fingers"]
    known = {alias for table in sides.values() for kind in table.values() for alias in kind}
    known |= {alias for aliases in fingers.values() for alias in aliases}
    keys: dict[str, list[tuple[str, str]]] = {"left": [], "right": [], "middle": []}
    for name in skeleton.names:
        side, words = _sided(_words(name) or [name.lower()], known)
        keys[side or "middle"].append((name, "".join(words)))
    found: dict[str, tuple[str, float]] = {}
    for side in SIDES:
        found |= _one_side(side, keys[side], sides)
        found |= _fingers(side, keys[side], tables)
    for role, aliases in tables["middle"].items():
        ranked = [(aliases.index(key), name) for name, key in keys["middle"] if key in aliases]
        if ranked:
            found[role] = (min(ranked, key=lambda r: r[0])[1], 1.0)
    return _with_true_hips(skeleton, found)


def _one_side(side: str, keys: list[tuple[str, str]],
              tables: Mapping[str, Any]) -> dict[str, tuple[str, float]]:
    found: dict[str, tuple[str, float]] = {}
    for role, table in tables.items():
        match = next((name for name, key in keys if key in table["sure"]), None)
        if match:
            found[f"{side}_{role}"] = (match, 1.0)
    for name, key in keys:
        for role, table in tables.items():
            if key in table["perhaps"] and f"{side}_{role}" not in found:
                found[f"{side}_{role}"] = (name, 0.8)
                break
    return found


def _fingers(side: str, keys: list[tuple[str, str]],
             tables: Mapping[str, Any]) -> dict[str, tuple[str, float]]:
    """Find whole fingers; a lone first joint is the stand-in that some systems carry."""
    found: dict[str, tuple[str, float]] = {}
    endings = {e: number for number, es in tables["phalanges"].items() for e in es}
    for finger, aliases in tables["fingers"].items():
        joints: dict[str, str] = {}
        for name, key in keys:
            bare = key.removeprefix("hand")
            for alias in aliases:
                number = endings.get(bare.removeprefix(alias)) if bare.startswith(alias) else None
                if number is None and alias.startswith("finger"):
                    number = {alias: "1", f"{alias}1": "2", f"{alias}2": "3"}.get(bare)
                if number:
                    joints.setdefault(number, name)
        if "1" in joints and "2" in joints:
            found |= {f"{side}_{finger}{n}": (name, 1.0) for n, name in joints.items()}
    return found


def _ancestors(skeleton: Skeleton, joint: int) -> Iterator[int]:
    while joint >= 0:
        yield joint
        joint = int(skeleton.parents[joint])


def _common(skeleton: Skeleton, names: list[str]) -> int:
    lines = [list(_ancestors(skeleton, skeleton.index[name])) for name in names]
    return next(joint for joint in lines[0] if all(joint in line for line in lines[1:]))


def _with_true_hips(skeleton: Skeleton,
                    found: dict[str, tuple[str, float]]) -> dict[str, tuple[str, float]]:
    """Put the hips where both legs and the trunk hang, whatever bone bears the name."""
    below = [found[r][0] for r in ("left_thigh", "right_thigh", "head") if r in found]
    if len(below) < 3:
        return found
    fork = _common(skeleton, below)
    named = found.get("hips")
    if named is None or skeleton.index[named[0]] not in _ancestors(skeleton, fork):
        found["hips"] = (skeleton.names[fork], 0.8)
    return found


def _trunk(skeleton: Skeleton, joints: Mapping[str, str]) -> dict[str, str]:
    """Name the joints from the hips to the head: the arms hang on the chest."""
    hips, head = skeleton.index[joints["hips"]], skeleton.index[joints["head"]]
    line = list(_ancestors(skeleton, head))
    if hips not in line:
        raise RequestError(f"bone {joints['head']!r} does not hang on {joints['hips']!r};"
                           " expected the skeleton of one whole person")
    line = line[1 : line.index(hips)][::-1]
    arms = [joints.get(f"{side}_clavicle", joints[f"{side}_upper_arm"]) for side in SIDES]
    fork = _common(skeleton, [*arms, joints["head"]])
    chest = line.index(fork) if fork in line else -1
    trunk = {f"spine{i + 1}": skeleton.names[joint] for i, joint in enumerate(line[:max(chest, 0)])}
    if chest >= 0:
        trunk["chest"] = skeleton.names[line[chest]]
    return trunk | {f"neck{i + 1}": skeleton.names[joint]
                    for i, joint in enumerate(line[chest + 1 :])}
