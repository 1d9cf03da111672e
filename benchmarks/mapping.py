"""How often bones are told apart when their names say less: python benchmarks/mapping.py FOLDER...

Every BVH and FBX file below the folders is read; its bones are renamed, its children shuffled, and
the roles found are held against those that the file's own names give.
"""

import sys
import zlib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.motion import Motion, Skeleton
from mimegen.readers.bvh import read_bvh
from mimegen.readers.fbx import raw_fbx
from mimegen.readers.roles import find_roles

FRENCH = {"upper_arm": "Bras", "forearm": "AvantBras", "hand": "Main", "thigh": "Cuisse",
          "shin": "Mollet", "foot": "Pied", "toe": "Orteils", "clavicle": "Épaule"}
JAPANESE = {"upper_arm": "腕", "forearm": "ひじ", "hand": "手首", "thigh": "足", "shin": "ひざ",
            "foot": "足首", "toe": "つま先", "clavicle": "肩"}
SIDES = {"french": {"left": "{}Gauche", "right": "{}Droit"},
         "japanese": {"left": "左{}", "right": "右{}"}}
MIDDLE = {"french": {"hips": "Bassin", "head": "Tête"}, "japanese": {"hips": "腰", "head": "頭"}}
FINNISH = ("olka", "kyynar", "ranne", "reisi", "polvi", "nilkka", "paa", "lantio", "selka", "kaula")


SEEDS = 10
KINDS = ("numbers", "half", "french", "japanese", "finnish")


def renamed(kind: str, motion: Motion, roles: Mapping[str, str],
            seed: int) -> tuple[Motion, dict[str, str]]:
    """Return the motion with other names and another order of joints, and new -> old names."""
    names, role_of = motion.skeleton.names, {joint: role for role, joint in roles.items()}
    chance = np.random.default_rng([seed, zlib.crc32(kind.encode())])
    numbers = chance.permutation(len(names))
    new = [f"Bone.{n:03}" for n in numbers]
    if kind == "half":
        new = [name if keep else other
               for name, other, keep in zip(names, new, chance.random(len(names)) < 0.5,
                                            strict=True)]
    elif kind == "finnish":
        new = [f"{FINNISH[n % len(FINNISH)]}{n}" for n in numbers]
    elif kind in MIDDLE:
        new = [word(kind, role_of.get(name)) or other
               for name, other in zip(names, new, strict=True)]
    return shuffled(motion, tuple(new), chance), dict(zip(new, names, strict=True))


def word(kind: str, role: str | None) -> str | None:
    """Return what a role's bone is called in another language, if that has a word."""
    side, _, part = (role or "").partition("_")
    words = {"french": FRENCH, "japanese": JAPANESE}[kind]
    if part in words:
        return SIDES[kind][side].format(words[part])
    return MIDDLE[kind].get(role or "")


def shuffled(motion: Motion, names: tuple[str, ...], chance: np.random.Generator) -> Motion:
    """Return the motion with other names, its joints in a random order, parents first."""
    skeleton, waiting = motion.skeleton, [0]
    order: list[int] = []
    while waiting:
        order.append(waiting.pop(int(chance.integers(len(waiting)))))
        waiting.extend(skeleton.children(order[-1]))
    new = {joint: i for i, joint in enumerate(order)} | {-1: -1}
    parents = np.array([new[int(skeleton.parents[joint])] for joint in order])
    return Motion(Skeleton(tuple(names[j] for j in order), parents, skeleton.heads[order],
                           skeleton.tails[order]), motion.fps, motion.root_positions,
                  motion.rotations[:, order])


def outcome(kind: str, motion: Motion, roles: Mapping[str, str], seed: int) -> str:
    """Return ``same``, ``refused``, or which roles came out otherwise."""
    other, old = renamed(kind, motion, roles, seed)
    try:
        found = find_roles(other.skeleton, other).joints
    except RequestError:
        return "refused"
    wrong = [role for role, joint in found.items() if role in roles and old[joint] != roles[role]]
    return "same" if not wrong else f"otherwise: {', '.join(sorted(wrong)[:4])}"


def main(folders: list[Path]) -> None:
    """Print a table of outcomes, file by file, and their totals."""
    files = sorted(file for folder in folders for file in folder.rglob("*")
                   if file.suffix.lower() in (".bvh", ".fbx"))
    totals: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    print(f"| file | {' | '.join(KINDS)} |\n|{'---|' * (len(KINDS) + 1)}")
    for file in files:
        try:
            motion = (raw_fbx if file.suffix.lower() == ".fbx" else read_bvh)(file)[0]
            roles = find_roles(motion.skeleton, motion, file.name).joints
        except RequestError as problem:
            print(f"| {file.name} | not read: {problem} |")
            continue
        row = []
        for kind in KINDS:
            outcomes = [outcome(kind, motion, roles, seed) for seed in range(SEEDS)]
            totals[kind].update(o.partition(":")[0] for o in outcomes)
            row.append("; ".join(f"{o} {n}" for o, n in Counter(outcomes).items()))
        print(f"| {file.name} | {' | '.join(row)} |")
    for kind, counts in totals.items():
        print(f"{kind}: {dict(counts)}")


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
