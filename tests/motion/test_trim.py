"""T-poses and idle ends are found and cut; long takes are split at rests."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.motion.trimming import segments, trim_bounds
from mimegen.readers import ReadOptions, Recording, Trim, find_roles, read_motion
from mimegen.readers.options import parse_trim

FPS = 60
STANDARD = standard_skeleton()
ROLES = find_roles(STANDARD).joints


def acted(*parts: tuple[str, float]) -> Motion:
    """Return a motion of parts that last some seconds: ``T``, ``rest``, ``lower`` or ``wave``.

    The standard skeleton's rest pose is a T-pose; resting arms hang, waving swings them.
    """
    angles: list[float] = []
    for kind, seconds in parts:
        count = round(seconds * FPS)
        time = np.arange(count) / FPS
        angles += {"T": np.zeros(count), "rest": np.full(count, 85.0),
                   "lower": np.linspace(0, 85, count),
                   "wave": 85 - 40 * (1 - np.cos(2 * np.pi * time))}[kind].tolist()
    rotations = np.tile(quaternions.IDENTITY, (len(angles), len(STANDARD.names), 1))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        turn = np.radians(angles)[:, None] * [0.0, sign, 0.0]
        rotations[:, STANDARD.index[ROLES[f"{side}_upper_arm"]]] = \
            quaternions.from_rotation_vectors(turn)
    breath = 0.002 * np.sin(np.arange(len(angles)) / FPS * 2)[:, None] * [0.0, 0.0, 1.0]
    return Motion(STANDARD, FPS, STANDARD.heads[0] + breath, rotations)


def test_a_t_pose_and_idle_ends_are_cut() -> None:
    motion = acted(("T", 2.0), ("lower", 0.5), ("rest", 3.0), ("wave", 4.0), ("rest", 2.0))
    span = trim_bounds(motion, ROLES)
    assert span.first / FPS == pytest.approx(5.5 - 0.3, abs=0.15)
    assert span.last / FPS == pytest.approx(9.5 + 0.3, abs=0.15)
    assert [reason.split(" at ")[1] for reason in span.reasons] == [
        "the start", "the start", "the end"]
    assert "T-pose of 2." in span.reasons[0] and "rest" in span.reasons[2]


def test_the_reasons_account_for_all_that_is_cut() -> None:
    posed, resting, waving = (("T", 2.0), ("lower", 0.5)), ("rest", 3.0), ("wave", 4.0)
    for motion in (acted(*posed, resting, waving), acted(*posed, waving), acted(resting, waving)):
        span = trim_bounds(motion, ROLES)
        seconds = [float(one) for reason in span.reasons if reason.endswith("at the start")
                   for one in re.findall(r"([\d.]+) s", reason)]
        assert sum(seconds) == pytest.approx(span.first / FPS, abs=0.11), span


def test_a_t_pose_at_the_end_is_cut() -> None:
    motion = acted(("T", 1.0), ("lower", 0.4), ("wave", 3.0))
    backwards = Motion(STANDARD, FPS, motion.root_positions[::-1], motion.rotations[::-1])
    span = trim_bounds(backwards, ROLES)
    assert span.first == 0
    assert span.last / FPS == pytest.approx(3.0, abs=0.3)


def test_what_moves_to_its_ends_and_what_never_moves_stay_whole() -> None:
    for motion in (acted(("wave", 3.0)), acted(("rest", 5.0)), acted(("T", 3.0))):
        span = trim_bounds(motion, ROLES)
        assert (span.first, span.last, span.reasons) == (0, motion.frames - 1, ())


def test_long_takes_are_split_at_rests() -> None:
    motion = acted(("T", 1.0), ("lower", 0.5), ("rest", 2.0), ("wave", 3.0), ("rest", 2.0),
                   ("wave", 2.0), ("rest", 0.4), ("wave", 2.0), ("rest", 1.5))
    found = [(span.first / FPS, span.last / FPS) for span in segments(motion, ROLES)]
    assert found == [pytest.approx((3.2, 6.8), abs=0.2), pytest.approx((8.2, 13.2), abs=0.2)]


def test_real_takes(samples: Path) -> None:
    jump = read_motion(samples / "bvh" / "anim_fair_jumping.bvh", ReadOptions(trim=Trim("auto")))
    assert jump.span is not None and 1.2 < jump.span[0] / jump.motion.fps < 1.8
    assert jump.span[1] == 653
    assert any("T-pose" in note for note in jump.notes)
    walk = read_motion(samples / "bvh" / "gpmat_Swagger.bvh", ReadOptions(trim=Trim("auto")))
    assert walk.span is None and walk.motion.frames == 581


def test_a_span_starts_over_the_origin_facing_front(samples: Path) -> None:
    path = samples / "bvh" / "pymo_AV_8Walk.bvh"
    whole = read_motion(path)
    part = read_motion(path, ReadOptions(trim=parse_trim("300f:800f")))
    assert part.motion.frames == 501 and part.span == (300, 800)
    assert np.allclose(part.motion.root_positions[0, :2], 0.0, atol=1e-9)
    thighs = [part.motion.skeleton.index[part.roles[f"{side}_thigh"]] for side in ("left", "right")]
    left = np.subtract(*part.motion.global_pose.positions[0, thighs])
    assert left[0] > 0.9 * np.linalg.norm(left)
    # Where it stood in the file is kept.
    assert np.allclose(in_the_file(part), in_the_file(whole)[300:801], atol=1e-9)


def in_the_file(recording: Recording) -> NDArray[Any]:
    turn = quaternions.from_rotation_vectors([0, 0, np.radians(recording.heading)])
    there = recording.motion.root_positions + np.array([*recording.origin, 0.0])
    return quaternions.rotate(turn, there)


@pytest.mark.parametrize(("text", "kind", "first", "last"), [
    ("auto", "auto", None, None), ("none", "none", None, None), ("1.5:7", "span", 1.5, 7.0),
    (":7", "span", None, 7.0), ("1.5:", "span", 1.5, None), ("30f:400f", "span", 30.0, 400.0),
])
def test_what_trim_says(text: str, kind: str, first: float | None, last: float | None) -> None:
    trim = parse_trim(text)
    assert (trim.kind, trim.first, trim.last) == (kind, first, last)
    assert trim.in_frames == text.endswith("f")
    assert parse_trim(str(trim)) == trim


@pytest.mark.parametrize(("text", "said"), [
    *((text, "expected auto, none") for text in ("", "7", "a:b", "-1:3", "1:2:3", ":", "nan:2",
                                                 "1e3:2e3")),
    ("5:2", "is an empty range"), ("3f:3f", "is an empty range"),
    ("1f:3", "mixes seconds and frames")])
def test_what_trim_cannot_say(text: str, said: str) -> None:
    with pytest.raises(RequestError, match=rf"^--trim {text}: .*{said}"):
        parse_trim(text)


@pytest.mark.parametrize("text", ["0:99", "600f:9999f", "5.449:5.45"])
def test_spans_outside_of_a_take(samples: Path, text: str) -> None:
    with pytest.raises(RequestError, match=r"jumping\.bvh: --trim .*of 654 frames"):
        read_motion(samples / "bvh" / "anim_fair_jumping.bvh",
                    ReadOptions(trim=parse_trim(text)))
