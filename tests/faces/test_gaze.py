"""What faces look at: the camera, the other, a hand, a point."""

from functools import cache

import numpy as np
import pytest

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.characters.character import Performance
from mimegen.faces.gaze import direction_of, known_gaze, point_of
from mimegen.faces.overlay import FaceOverlay
from mimegen.library.cast import DescribedPerson, cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import altered, library_take
from mimegen.motion import quaternions
from mimegen.motion.quaternions import FloatArray
from mimegen.request.render_request import RenderRequest
from mimegen.request.sources import overlays_of
from mimegen.shots.config import read_config
from mimegen.shots.framing import frame_camera

CATALOGUE = Catalogue.with_libraries(())
MAN = DescribedPerson("man", data_folder() / "rigs" / "man.yaml")
FPS = 12.0
AHEAD = np.array([0.0, -1.0, 0.0])


@cache
def performed(action: str, gaze: str | None, mirror: bool = False) -> tuple[Performance, ...]:
    take = altered(library_take(CATALOGUE.action(action), None, 0), 1.0, mirror,
                   None if gaze is None else FaceOverlay(gaze=gaze))
    members = (MAN, cast_member(CATALOGUE, "woman"))[:take.performers]
    return Casting(take, members).perform(FPS)


def joint(performance: Performance, name: str) -> tuple[FloatArray, FloatArray]:
    """Return a joint's places (F, 3) and rotations (F, 4)."""
    pose, number = performance.motion.global_pose, performance.motion.skeleton.index[name]
    return pose.positions[:, number], pose.rotations[:, number]


def eyes(performance: Performance) -> FloatArray:
    return np.mean([joint(performance, f"{side}Eye")[0] for side in ("Left", "Right")], axis=0)


def off(performance: Performance, places: FloatArray) -> FloatArray:
    """Return by how many degrees (F,) the left eye's direction misses places (F, 3)."""
    ways = places - eyes(performance)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    seen = quaternions.rotate(joint(performance, "LeftEye")[1], np.tile(AHEAD, (len(ways), 1)))
    return np.degrees(np.arccos(np.clip(np.sum(ways * seen, axis=1), -1, 1)))


def test_somebody_looks_at_the_other() -> None:
    first, second = performed("conversation", "partner")
    assert off(first, eyes(second))[int(FPS):].max() < 3
    plain, other = performed("conversation", None)
    assert off(plain, eyes(other))[int(FPS):].max() > 6


def test_somebody_looks_at_a_point_and_comes_there() -> None:
    performance, = performed("neutral_face", "0.6,2,1.2")
    front = np.radians(library_take(CATALOGUE.action("neutral_face"), None, 0).front_deg)
    forward = np.array([np.sin(front), -np.cos(front), 0.0])
    left = np.array([np.cos(front), np.sin(front), 0.0])
    hips = performance.motion.root_positions[0] * [1, 1, 0]
    place = np.tile(hips + 2 * forward + 0.6 * left + [0, 0, 1.2], (performance.motion.frames, 1))
    missed = off(performance, place)
    assert missed[int(FPS):].max() < 2 < missed[0]


@pytest.mark.parametrize("hand", ["left_hand", "right_hand"])
def test_somebody_looks_at_a_hand(hand: str) -> None:
    performance, = performed("wave", hand)
    side = hand.split("_")[0].capitalize()
    places, _ = joint(performance, f"{side}Hand")
    plain, = performed("wave", None)
    assert np.mean(off(performance, places)[6:]) < 0.5 * np.mean(
        off(plain, joint(plain, f"{side}Hand")[0])[6:])


@pytest.mark.parametrize("mirror", [False, True])
def test_somebody_looks_into_the_camera(mirror: bool) -> None:
    performance, = performed("neutral_face", "camera:40:2", mirror)
    azimuth = np.radians(40)
    way = np.array([np.sin(azimuth), -np.cos(azimuth), np.tan(np.radians(2))])
    assert off(performance, eyes(performance) + 50 * way)[int(FPS):].max() < 2


def test_heads_and_eyes_stay_within_what_they_can() -> None:
    performance, = performed("neutral_face", "0,-3,1.5")
    plain, = performed("neutral_face", None)
    turned = quaternions.multiply(quaternions.conjugate(joint(plain, "Head")[1]),
                                  joint(performance, "Head")[1])
    assert np.degrees(np.linalg.norm(quaternions.to_rotation_vectors(turned), axis=1)).max() < 65
    eye = performance.motion.rotations[:, performance.motion.skeleton.index["LeftEye"]]
    assert np.degrees(np.linalg.norm(quaternions.to_rotation_vectors(eye), axis=1)).max() < 36


@pytest.mark.parametrize(("text", "message"), [
    ("camra", "no target 'camra' \\(did you mean camera"), ("1,2", "LEFT,FORWARD,UP .* '1,2'"),
    ("a,b,c", "LEFT,FORWARD,UP .* 'a,b,c'"), ("nan,0,0", "too far away"),
    ("1e9,0,0", "too far away"), ("camera:x", "camera:AZIMUTH:ELEVATION .* 'camera:x'"),
    ("camera:1:9999", "between -720 and 720"),
])
def test_what_nobody_can_look_at_is_told_in_a_line(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=f"--gaze: .*{message}") as caught:
        FaceOverlay(gaze=text)
    assert "\n" not in str(caught.value)


def test_targets_are_read() -> None:
    assert known_gaze("1.0, 2,0.5") == "1,2,0.5" and point_of("1,2,0.5").up == 0.5
    assert direction_of("camera")[0] == 48.5 and direction_of("camera:40:2") == (40, 2)


def test_the_camera_is_that_of_the_render_config() -> None:
    for config, gaze in (("face", "camera:40:2"), ("auto", "camera:48.5:9"),
                         ("mime", "camera:48.4697:13.8")):
        request = RenderRequest.of(action="neutral_face", gaze="camera", config=config)
        overlay, = overlays_of(CATALOGUE, request)
        assert overlay is not None and overlay.gaze == gaze
        assert overlay.words == ("gaze_camera",) and overlay.facts["gaze"] == gaze
        assert overlay.facts["filmed"]["camera"]["kind"] in ("framed", "fixed")
    raised = RenderRequest.of(action="neutral_face", gaze="camera", config="face", elevation=20.0)
    overlay, = overlays_of(CATALOGUE, raised)
    assert overlay is not None and overlay.gaze == "camera:40:20"


@pytest.mark.parametrize(("action", "config", "mirror"), [
    ("neutral_face", "face", False), ("neutral_face", "face", True), ("walk", "draft", False),
    ("neutral_face", "mime", False)])
def test_eyes_meet_the_camera_that_films_them(action: str, config: str, mirror: bool) -> None:
    settings = read_config(CATALOGUE.file("config", config))
    overlay, = overlays_of(CATALOGUE, RenderRequest.of(action=action, gaze="camera",
                                                       config=config))
    take = altered(library_take(CATALOGUE.action(action), None, 0), 1.0, mirror, overlay)
    scene = Casting(take, (MAN,)).perform(FPS)
    place = np.array(frame_camera(scene, settings, 0.0).position)
    assert off(scene[0], np.tile(place, (scene[0].motion.frames, 1)))[int(FPS):].max() < 2


def test_nobody_looks_at_another_who_is_alone() -> None:
    with pytest.raises(RequestError, match="--gaze partner: walk is performed by one person"):
        altered(library_take(CATALOGUE.action("walk"), None, 0), 1.0, False,
                FaceOverlay(gaze="partner"))
