"""Questions about movement: right on movement that is known, silent where it is close."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mimegen.base.arrays import FloatArray
from mimegen.base.errors import RequestError
from mimegen.evaluation.movement import PROBES, Movement
from mimegen.evaluation.probes import (
    ProbeRequest,
    parse_probes,
    probe_questions,
    read_probe_wording,
)
from mimegen.evaluation.sampling import parse_sampling
from mimegen.manifest.row import Row
from questions_rows import library_rows

FRAMES, FPS = 60, 30.0
World = dict[str, FloatArray]
T = np.linspace(0, 1, FRAMES)
# A person of 1.75 m who stands still, faces -Y, and lets the arms hang. Left is +X.
STANDING = {"eye": (0.03, -0.1, 1.63), "shoulder": (0.2, 0, 1.42), "hip": (0.1, 0, 0.95),
            "knee": (0.1, 0, 0.5), "ankle": (0.1, 0, 0.08), "wrist": (0.25, 0, 0.75),
            "middle1": (0.25, 0, 0.66), "ear": (0.08, 0, 1.62), "thumb4": (0.22, -0.04, 0.64),
            "index4": (0.25, -0.02, 0.57), "middle4": (0.25, 0, 0.56),
            "big_toe": (0.1, -0.18, 0.04), "small_toe": (0.14, -0.15, 0.04),
            "heel": (0.1, 0.04, 0.0)}
NOSE = (0.0, -0.12, 1.6)


def standing() -> World:
    return {"nose": np.tile(NOSE, (FRAMES, 1))} | {
            f"{side}_{name}": np.tile([sign * x, y, z], (FRAMES, 1)).astype(float)
            for side, sign in (("left", 1), ("right", -1)) for name, (x, y, z) in STANDING.items()}


def seen(world: World) -> Movement:
    """Movement before a camera that looks along +Y: the person's left is at the picture's right."""
    pixels = {name: np.stack([320 + 100 * p[:, 0], 300 - 100 * p[:, 2]], axis=1)
              for name, p in world.items()}
    return Movement(world, pixels, FPS)


def hand_moved(side: str, offset: FloatArray) -> World:
    world = standing()
    for name in ("wrist", "middle1", "thumb4", "index4", "middle4"):
        world[f"{side}_{name}"] = world[f"{side}_{name}"] + offset
    return world


def turned(degrees: float) -> World:
    return spun(np.radians(degrees) * T)


def spun(angle: FloatArray) -> World:
    rotation = np.stack([np.stack([np.cos(angle), -np.sin(angle)], -1),
                         np.stack([np.sin(angle), np.cos(angle)], -1)], -2)
    return {name: np.concatenate([np.einsum("fij,fj->fi", rotation, p[:, :2]), p[:, 2:]], axis=1)
            for name, p in standing().items()}


def moved(x: float = 0.0, z: FloatArray | float = 0.0) -> World:
    offset = np.stack([x * T, 0 * T, z * np.ones(FRAMES)], axis=1)
    return {name: p + offset for name, p in standing().items()}


def both_moved(left: FloatArray, right: FloatArray) -> World:
    other = hand_moved("right", right)
    return hand_moved("left", left) | {
        name: points for name, points in other.items() if name.startswith("right")}


def head_turned(degrees: float) -> World:
    """Turned to the person's left about the middle between the ears, the hips staying."""
    world = standing()
    angle = np.radians(degrees)
    world["nose"] = world["nose"] * [0, 0, 1] + 0.12 * np.array(
        [np.sin(angle), -np.cos(angle), 0])
    return world


def moving(speeds: tuple[float, ...]) -> FloatArray:
    """Forward, at a speed that changes from part to part of the clip."""
    parts = np.array_split(np.ones(FRAMES), len(speeds))
    steps = np.concatenate([speed * part for speed, part in zip(speeds, parts, strict=True)])
    return np.stack([0 * T, -0.02 * np.cumsum(steps), 0 * T], axis=1)


UP = np.stack([0 * T, 0 * T, 1.2 * np.sin(np.pi * T)], axis=1)
JUMP = 0.4 * np.exp(-((T - 0.5) / 0.08) ** 2)
BOW = -0.5 * np.exp(-((T - 0.85) / 0.05) ** 2)


def bowed() -> World:
    return {name: p + np.stack([0 * T, 0 * T, BOW * ("eye" in name)], axis=1)
            for name, p in standing().items()}


def on_tiptoe() -> World:
    """Heels and ankles rise, as also on the knees; the toes stay."""
    return {name: p + np.stack([0 * T, 0 * T, 0.1 * T * ("toe" not in name)], axis=1)
            for name, p in standing().items()}


def on_the_side(world: World) -> World:
    """Lying on one side: left and right are above each other, and the nose is beside the ears."""
    return {name: p[:, [2, 1, 0]] for name, p in world.items()} | {
        "nose": world["left_ear"][:, [2, 1, 0]] - [0, 0, 0.2]}


@pytest.mark.parametrize(("probe", "world", "answer"), [
    ("active_hand", hand_moved("left", UP), 0), ("active_hand", hand_moved("right", UP), 1),
    ("active_hand", standing(), None), ("active_hand", moved(2.0), None),
    ("hands_touch", standing(), 1),
    ("hands_touch", hand_moved("left", np.array([-0.5, 0, 0]) * T[:, None]), 0),
    ("hands_touch", hand_moved("left", np.array([-0.35, 0, 0]) * T[:, None]), None),
    ("travel", moved(-1.5), 0), ("travel", moved(1.5), 1), ("travel", standing(), 2),
    ("travel", moved(0.3), None),
    ("turn", turned(-90), 0), ("turn", turned(90), 1), ("turn", standing(), 2),
    ("turn", turned(30), None), ("turn", turned(270), 1),
    ("lowest", bowed(), 2), ("lowest", standing(), None),
    ("higher_hand", hand_moved("left", np.array([0, 0, 0.6])), 0),
    ("higher_hand", hand_moved("right", np.array([0, 0, 0.6])), 1),
    ("higher_hand", standing(), None),
    ("reach", standing(), 0), ("reach", hand_moved("left", np.array([0, 0, 0.5])), 1),
    ("reach", hand_moved("left", np.array([0, 0, 0.9])), 2),
    ("reach", hand_moved("left", np.array([0, 0, 1.3])), 3),
    ("leave_ground", moved(z=JUMP), 0), ("leave_ground", standing(), 1),
    ("leave_ground", moved(z=JUMP / 8), None), ("leave_ground", on_tiptoe(), 1),
    ("leave_ground", moved(z=0.4), 0),
    ("turn", on_the_side(turned(90)), None), ("head_turn", on_the_side(standing()), None),
    ("speed_change", hand_moved("left", moving((2, 1))), 0),
    ("speed_change", hand_moved("left", moving((1, 2))), 1),
    ("speed_change", hand_moved("left", moving((1, 1.2))), None),
    ("speed_change", standing(), None), ("velocity_profile", standing(), None),
    ("velocity_profile", hand_moved("left", moving((1, 2, 4))), 0),
    ("velocity_profile", hand_moved("left", moving((4, 2, 1))), 1),
    ("velocity_profile", hand_moved("left", moving((1, 3, 1))), 2),
    ("velocity_profile", hand_moved("left", moving((3, 1, 3))), 3),
    ("velocity_profile", hand_moved("left", moving((1, 1.2, 3))), None),
    ("head_turn", head_turned(50), 0), ("head_turn", head_turned(-50), 1),
    ("head_turn", standing(), 2), ("head_turn", turned(180), 2),
    ("head_turn", head_turned(20), None),
    ("hand_to_face", standing(), 1),
    ("hand_to_face", hand_moved("left", np.array([-0.2, -0.1, 1.05])), 0),
    ("hand_to_face", hand_moved("left", np.array([-0.1, -0.1, 0.9])), None),
    ("mirrored_arms", both_moved(UP, UP), 0), ("mirrored_arms", hand_moved("left", UP), 1),
    ("mirrored_arms", standing(), None), ("mirrored_arms", both_moved(UP, 0.8 * UP), None),
    ("distance", standing(), 0), ("distance", moved(0.9), 1), ("distance", moved(2.5), 2),
    ("distance", moved(0.4), None),
])
def test_probes_say_what_was_done(probe: str, world: World, answer: int | None
                                  ) -> None:
    assert PROBES[probe](seen(world), FRAMES // 2) == answer


def test_a_mirrored_performance_has_the_other_answer() -> None:
    for probe, world in (("active_hand", hand_moved("left", UP)), ("turn", turned(90)),
                         ("travel", moved(1.5)), ("head_turn", head_turned(50))):
        mirrored = {}
        for name, points in world.items():
            side, _, rest = name.partition("_")
            if not rest:
                mirrored[name] = points * [-1, 1, 1]
                continue
            mirrored[f"{'right' if side == 'left' else 'left'}_{rest}"] = points * [-1, 1, 1]
        first, second = PROBES[probe](seen(world), 0), PROBES[probe](seen(mirrored), 0)
        assert {first, second} == {0, 1}, probe


def asked(*probes: str, sampling: str = "video") -> ProbeRequest:
    return ProbeRequest(probes, read_probe_wording(None), 0, parse_sampling(sampling), sampling)


def written(folder: Path, name: str, world: World, height: int | None = None) -> dict[str, Any]:
    """A keypoints pass on disk, of a picture of this height, and what a row says of it."""
    place = folder / "passes" / name
    place.mkdir(parents=True)
    body = seen(world)
    np.savez(place / "keypoints.npz", names=np.array([*world]),
             world=np.stack([*world.values()], axis=1)[:, None],
             pixels=np.stack([*body.pixels.values()], axis=1)[:, None],
             **({} if height is None else {"width": np.array(640), "height": np.array(height)}))
    return {"folder": f"passes/{name}", "key": 64 * "a", "files": ["keypoints.npz"],
            "sha256": 64 * "b"}


@pytest.fixture
def rows(tmp_path: Path) -> list[Row]:
    """Thirty clips: twenty turn left, six turn right, four do not turn."""
    worlds = [turned(90)] * 20 + [turned(-90)] * 6 + [standing()] * 4
    return [Row.model_validate(dict(row) | {
        "fps": FPS, "frames": FRAMES,
        "passes": {"keypoints": written(tmp_path, str(number), world)}})
        for number, (row, world) in enumerate(zip(library_rows(), worlds, strict=False))]


def test_each_answer_is_right_equally_often(tmp_path: Path, rows: list[Row]) -> None:
    made, left_out = probe_questions(tmp_path, rows, asked("turn"))
    assert Counter(one.answer for one in made) == {
        "clockwise": 4, "counterclockwise": 4, "it has not turned": 4}
    assert left_out == {"turn": 18}
    assert all(one.answer in one.options and one.prompt.count("\n") >= 4 for one in made)
    assert len({tuple(one.options) for one in made}) > 1


def test_a_probe_without_an_example_of_each_answer_is_not_asked(
    tmp_path: Path, rows: list[Row]
) -> None:
    made, left_out = probe_questions(tmp_path, rows, asked("leave_ground"))
    assert made == [] and left_out == {"leave_ground": 30}


def some_rows(folder: Path, worlds: list[World], height: int | None = None) -> list[Row]:
    return [Row.model_validate(dict(row) | {"fps": FPS, "frames": FRAMES, "passes": {
        "keypoints": written(folder, str(number), world, height)}})
        for number, (row, world) in enumerate(zip(library_rows(), worlds, strict=False))]


@pytest.mark.parametrize(("probe", "height", "count"), [
    ("leave_ground", 300, 4), ("leave_ground", 250, 0), ("active_hand", 250, 4),
    ("active_hand", 220, 0), ("lowest", 200, 6)])
def test_what_is_out_of_the_picture_is_not_asked_about(
    tmp_path: Path, probe: str, height: int, count: int
) -> None:
    """Ankles are 292 pixels down, hands 230, eyes 137."""
    low = [moved(z=-0.5 * np.exp(-((T - at) / 0.1) ** 2)) for at in (0.2, 0.5, 0.8)]
    worlds = {"leave_ground": [standing(), moved(z=JUMP)] * 2, "lowest": low * 2,
              "active_hand": [hand_moved("left", UP), hand_moved("right", UP)] * 2}[probe]
    made, _ = probe_questions(tmp_path, some_rows(tmp_path, worlds, height), asked(probe))
    assert len(made) == count


def test_questions_are_about_the_part_of_a_clip_that_is_shown(tmp_path: Path) -> None:
    """The first turns left at first and right later, the second the other way round."""
    there = np.radians(90) * np.minimum(1, 4 * np.minimum(T, 1 - T))
    worlds = [spun(sign * there) for sign in (1, -1)] + [standing()]
    rows = some_rows(tmp_path, worlds)
    for window, first in (("window:0:0.9:30", "counterclockwise"),
                          ("window:1.2:2:30", "clockwise")):
        made, _ = probe_questions(tmp_path, rows, asked("turn", sampling=window))
        assert {one.sample_id: one.answer for one in made}[rows[0].sample_id] == first
    assert not probe_questions(tmp_path, rows, asked("turn"))[0]


def test_what_no_shown_frame_shows_is_not_asked_about(tmp_path: Path) -> None:
    rows = some_rows(tmp_path, [standing(), moved(z=0.4 * np.exp(-((T - 0.5) / 0.02) ** 2))])
    counts = {sampling: len(probe_questions(tmp_path, rows, asked("leave_ground", sampling=sampling)
                                            )[0])
              for sampling in ("video", "uniform:4", "uniform:9", "middle:3")}
    assert counts == {"video": 2, "uniform:4": 0, "uniform:9": 2, "middle:3": 0}


def test_moments_are_those_of_shown_frames(tmp_path: Path) -> None:
    rows = some_rows(tmp_path, [hand_moved(side, np.array([0, 0, 0.6])) for side in (
        "left", "right")])
    request = asked("higher_hand", sampling="uniform:3")
    assert request.sampling is not None
    times = {f"{frame / FPS:.1f} s" for frame in request.sampling.frames(FRAMES, FPS)}
    made, _ = probe_questions(tmp_path, rows, request)
    assert len(made) == 2
    assert all(any(time in one.prompt for time in times) for one in made)


@pytest.mark.parametrize("damage", [b"", b"no archive", b"PK\x03\x04 and no more"])
def test_clips_without_keypoints_are_refused_and_so_is_damage(
    tmp_path: Path, rows: list[Row], damage: bytes
) -> None:
    with pytest.raises(RequestError, match="--passes keypoints"):
        probe_questions(tmp_path, library_rows(), asked("turn"))
    (tmp_path / "passes" / "3" / "keypoints.npz").write_bytes(damage)
    with pytest.raises(RequestError, match=r"keypoints\.npz: cannot be read"):
        probe_questions(tmp_path, rows, asked("turn"))
    with pytest.raises(RequestError, match="no such probe"):
        parse_probes("trun")


def test_keypoints_without_a_landmark_are_refused_in_a_line(
    tmp_path: Path, rows: list[Row]
) -> None:
    place = tmp_path / "passes" / "3" / "keypoints.npz"
    with np.load(place) as file:
        arrays = dict(file)
    arrays["names"] = np.array(["left_brow" if name == "left_eye" else name
                                for name in arrays["names"]])
    np.savez(place, **arrays)
    with pytest.raises(RequestError, match="has no landmark left_eye"):
        probe_questions(tmp_path, rows, asked("turn"))


@pytest.mark.parametrize("probe", PROBES)
def test_what_is_not_defined_is_not_asked_about(probe: str) -> None:
    unknown = {name: points * np.nan for name, points in standing().items()}
    assert PROBES[probe](seen(unknown), 30) is None


@pytest.mark.parametrize("text", ["probes: {}", "probes: {turn: {question: q, choices: [a, b]}}"])
def test_wording_without_a_probe_or_a_choice_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(f"about: mine\ninstruction: '{{question}} {{options}}'\n{text}\n")
    with pytest.raises(RequestError, match="expected a question and"):
        read_probe_wording(file)
