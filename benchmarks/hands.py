"""How deep hands lie in the body that they are part of, and whether they are where takes mean them.

    hands.py [--people spacesuit random:2 ...] [--only TEXT] [--every 12] [--out FILE.json] [--arms]

All takes' first seeds are performed by each of the people, at 24 frames a second. In every 12th of
them all points of a hand are held against the outer surface of all else but its own arm and the
other hand, as it is skinned; points nearer to the other hand than to that are in nothing, and what
is worn about a wrist is no hand. A hand is *at* the body where it is inside it or nearer than 2 cm;
*meant* to touch where, in the source, one of its points is within 8 mm of an unclothed person's
surface. Hands deeper than 10 mm are told one by one: when, how deep, in what.

With ``--arms`` upper arms and forearms, without hands, are held against the other arm instead.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from mimegen.base.paths import data_folder
from mimegen.base.vectors import unit
from mimegen.characters.build import build_character
from mimegen.characters.character import Character
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.motion import Motion
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.names import SIDES
from mimegen.readers.roles import find_roles
from mimegen.retarget import retarget
from mimegen.retarget.anatomy import leg_length
from mimegen.retarget.hands import HANDS, MovingBody, source_body
from mimegen.retarget.obstacles import OBSTACLES, below, in_hand
from mimegen.retarget.outer import OuterLayer, outer_surface, thinned
from mimegen.retarget.surface import SkinSample

Row = dict[str, Any]
FPS = 24.0
AT_M, ALLOWED_M, ARMS_M = 0.02, 0.010, 0.005
# Points of the surface are this far (m) apart: some 10,000 to 20,000 of them.
CELL_M = 0.009
# Frames are looked at in which the hand is so near (m) to points of the surface that are so far
# (m) apart.
NEAR_M, COARSE_M = 0.10, 0.04
# A point is inside where it lies below the planes of all of so many nearest points of the surface.
NEAREST, STRAIGHT, DEEPEST_M = 4, 0.5, 0.15


class Body:
    """Somebody's outer surface, and their hands' points."""

    def __init__(self, name: str) -> None:
        self.character = built(name)
        roles = find_roles(self.character.skeleton, file=name).joints
        self.joints = {role: self.character.skeleton.index[joint] for role, joint in roles.items()}
        surface = thinned(outer_surface(self.character), CELL_M)
        bare = [in_hand(surface, self.character, self.joints, side, OBSTACLES.wrist)
                for side in SIDES]
        self.hands = [surface.part(in_hand(surface, self.character, self.joints, side)).skin
                      for side in SIDES]
        self.bare = [surface.part(hand).skin for hand in bare]
        self.others = [surface.part(~hand & ~np.isin(surface.of, below(
            self.character, self.joints[f"{side}_upper_arm"])))
            for side, hand in zip(SIDES, reversed(bare), strict=True)]
        self.arms = [surface.part(~hand & np.isin(surface.of, below(
            self.character, self.joints[f"{side}_upper_arm"])))
            for side, hand in zip(SIDES, bare, strict=True)]


def built(name: str) -> Character:
    """Build who a name of the library or ``random:SEED`` stands for."""
    return build_character(sample_character(int(name.split(":")[1])) if ":" in name else
                           read_character(data_folder() / "rigs" / f"{name}.yaml"))


def ways_out(surface: OuterLayer, motion: Motion) -> FloatArray:
    """Return the ways (F, N, 3) out of a surface in all frames."""
    tips = replace(surface.skin, vertices=surface.skin.vertices + surface.ways)
    return unit(tips.posed(motion) - surface.skin.posed(motion))


def away(points: FloatArray, surface: FloatArray, ways: FloatArray,
         other: FloatArray) -> tuple[float, int]:
    """Return how far (m) a hand (N, 3) is from the body, or, negative, how deep it is in it.

    Also the number of the surface's nearest point there. ``other`` (M, 3) is the other hand.
    """
    close = np.flatnonzero(((surface > points.min(axis=0) - DEEPEST_M)
                            & (surface < points.max(axis=0) + DEEPEST_M)).all(axis=1))
    if len(close) < NEAREST:
        return DEEPEST_M, 0
    off, near = cKDTree(surface[close]).query(points, k=NEAREST)
    near = close[near]
    ahead = np.sum((points[:, None] - surface[near]) * ways[near], axis=2)
    inside = (ahead < -STRAIGHT * off).all(axis=1) & (off[:, 0] < DEEPEST_M)
    inside &= off[:, 0] < cKDTree(other).query(points)[0]
    found = np.where(inside, -np.abs(ahead).mean(axis=1), off[:, 0])
    return float(found.min()), int(near[found.argmin(), 0])


def least_far(hand: FloatArray, surface: FloatArray) -> FloatArray:
    """Return how far (F,) the points (F, N, 3) of a hand are from those (F, M, 3) of a surface."""
    return np.array([cKDTree(places).query(points)[0].min()
                     for points, places in zip(hand, surface, strict=True)])


def rows(body: Body, only: str, every: int, arms: bool) -> Iterator[Row]:
    """Yield what hands, or arms, do in each take."""
    for path in sorted(data_folder().glob("mocap/*/*.score.yaml")):
        name = f"{path.parent.name}/{path.name.removesuffix('.score.yaml')}"
        if only in name:
            source = performed(path)
            done = retarget(source, body.character)
            yield {"take": name, **(arms_of(body, done.motion, every) if arms else
                                    hands_of(body, source, done.motion, every))}


KEPT: dict[Path, Motion] = {}


def performed(path: Path) -> Motion:
    """Return a take's first performer."""
    if path not in KEPT:
        KEPT[path] = perform_scene(read_score(path), 0, FPS)[0]
    return KEPT[path]


def hands_of(body: Body, source: Motion, motion: Motion, every: int) -> Row:
    """Return distances (m) of both hands, whether they are meant to touch, and which are deep."""
    joints = {role: source.skeleton.index[joint] for role, joint in
              find_roles(source.skeleton, file="score").joints.items()}
    scale = leg_length(motion.skeleton, body.joints) / leg_length(source.skeleton, joints)
    original = source_body(source, joints, motion, body.character, body.joints, scale)
    found: Row = {"away": [], "meant": [], "deep": []}
    for number, (hand, others) in enumerate(zip(body.hands, body.others, strict=True)):
        part = motion.at(np.arange(0, motion.frames, every))
        off = least_far(hand.posed(part), thinned(others, COARSE_M).skin.posed(part))
        near = np.flatnonzero(off < NEAR_M)
        frames = looked_at(hand, others, body.bare[1 - number], part.at(near)) if len(near) else []
        off[near] = [each for each, _ in frames]
        found["away"] += np.round(off, 4).tolist()
        found["meant"] += (least_off(original, number) < HANDS.touch_m)[::every].tolist()
        found["deep"] += [(round(int(frame) * every / motion.fps, 2), SIDES[number],
                           round(-each, 4), motion.skeleton.names[others.of[at]])
                          for frame, (each, at) in zip(near, frames, strict=True)
                          if each < -ALLOWED_M]
    return found


def arms_of(body: Body, motion: Motion, every: int) -> Row:
    """Return how far (m) arms are from the other one in each frame, and which are deep in it."""
    part = motion.at(np.arange(0, motion.frames, every))
    coarse = [thinned(arm, COARSE_M).skin.posed(part) for arm in body.arms]
    off = least_far(*coarse)
    near = np.flatnonzero(off < NEAR_M)
    at = np.zeros(len(off), int)
    for number, arm in enumerate(body.arms if len(near) else ()):
        other = 1 - number
        for frame, (each, joint) in zip(near, looked_at(
                arm.skin, body.arms[other], body.bare[other], part.at(near)), strict=True):
            if number == 0 or each < off[frame]:
                off[frame], at[frame] = each, body.arms[other].of[joint]
    deep = [(round(int(frame) * every / motion.fps, 2), "arm", round(-off[frame], 4),
             motion.skeleton.names[at[frame]]) for frame in np.flatnonzero(off < -ARMS_M)]
    return {"away": np.round(off, 4).tolist(), "meant": [False] * len(off), "deep": deep}


def looked_at(hand: SkinSample, others: OuterLayer, other_hand: SkinSample,
              motion: Motion) -> list[tuple[float, int]]:
    """Return of each frame what `away` does."""
    seen = (hand.posed(motion), others.skin.posed(motion), ways_out(others, motion),
            other_hand.posed(motion))
    return [away(*frame) for frame in zip(*seen, strict=True)]


def least_off(body: MovingBody, number: int) -> FloatArray:
    """Return how far (F,) the nearest of a hand's points is from the body but for its own arm."""
    points, side = body.hands.points[:, number], SIDES[number]
    off = [tube.found(points, body.axes[part]).off.min(axis=1) for part, tube in body.tubes.items()
           if not (part.startswith(side) and "arm" in part)]
    return np.asarray(np.min(off, axis=0))


def told(found: Sequence[Row]) -> str:
    """Return the figures of some rows as a line."""
    away = np.concatenate([row["away"] for row in found])
    gaps = away[np.concatenate([row["meant"] for row in found])]
    deep = -away[away < AT_M]
    said = f"{len(away)} hands, {len(deep)} at the body"
    if len(deep):
        said += (f": deepest {1000 * max(deep.max(), 0):.0f} mm,"
                 f" 99 % within {1000 * max(np.quantile(deep, 0.99), 0):.1f} mm,"
                 f" {100 * np.mean(deep <= ALLOWED_M):.2f} % within 10 mm")
    if len(gaps):
        said += (f"; meant to touch {len(gaps)}: {100 * np.mean(gaps < AT_M):.1f} % within 2 cm,"
                 f" mean {1000 * np.maximum(gaps, 0).mean():.1f} mm off")
    return said


def main() -> None:
    """Print a line for each take, and for each of the people."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", nargs="+", default=["spacesuit"])
    parser.add_argument("--only", default="")
    parser.add_argument("--every", type=int, default=12)
    parser.add_argument("--arms", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    kept: dict[str, list[Row]] = {}
    for name in given.people:
        body = Body(name)
        kept[name] = []
        for row in rows(body, given.only, given.every, given.arms):
            kept[name].append(row)
            print(name, row["take"], told([row]), flush=True)
            for when, side, deep, joint in row["deep"]:
                print(f"    {when} s, {side}: {1000 * deep:.0f} mm in {joint}", flush=True)
        print(f"all of {name}:", told(kept[name]), flush=True)
    if given.out:
        given.out.write_text(json.dumps(kept))


if __name__ == "__main__":
    main()
