"""Which modules each key of code covers, and which it leaves alone; edits are in test_keys.py."""

from types import ModuleType
from typing import Any

import pytest

from mimegen.base.blender import blender_version
from mimegen.base.code import closure
from mimegen.library import keys as library
from mimegen.plan import keys as plan

# By key: modules whose edits must renew it, and modules whose edits must not.
COVERED: dict[str, tuple[ModuleType, str, str]] = {
    "figure_code": (library, "characters.build characters.body characters.sampling characters.spec",
                    "characters.imported.importing pointlight.lights choreography.perform"),
    "clothes_code": (library, "characters.redressing", "pointlight.lights"),
    "lights_code": (library, "pointlight.lights pointlight.landmarks",
                    "pointlight.stimulus characters.sampling"),
    "score_code": (library, "choreography.reading choreography.perform choreography.life"
                            " choreography.styles gait.stride",
                   "choreography.lint readers retarget.transfer"),
    "scene_code": (library, "scenes.compiling scenes.play scenes.parts choreography.perform",
                   "scenes.relations choreography.happenings retarget.transfer"),
    "performance_code": (library, "retarget.performing retarget.transfer retarget.feet"
                                  " motion.editing motion.rounding",
                         "choreography.perform retarget.report readers.bvh"),
    "gait_code": (library, "gait.walking gait.template library.gait_take motion.limbs",
                  "library.take retarget.transfer choreography.perform readers.bvh"),
    "face_code": (library, "characters.expression characters.fingerprint motion.rounding",
                  "choreography.perform choreography.face characters.body retarget.transfer"),
    "watching_code": (library, "shots.framing library.watched",
                      "choreography.perform retarget.transfer rendering.cycles.shotframes"),
    "altering_code": (library, "library.altering motion.editing",
                      "retarget.transfer choreography.perform"),
    "reversing_code": (library, "library.reversing motion.motion",
                       "library.altering library.shown_timeline retarget.transfer"),
    "fault_code": (library, "faults.scene faults.movement faults.bodies characters.fingerprint",
                   "faults.showing retarget.transfer choreography.perform"),
    "showing_code": (plan, "faults.showing faults.fault", "faults.scene compositing.compose"),
    "shot_code": (plan, "shots.framing rendering.cycles.shotframes rendering.cycles.materials"
                          " store.frames",
                  "rendering.cycles.scenery compositing.compose retarget.transfer"),
    "drawn_shot_code": (plan, "shots.framing shots.publishing shots.shadow rendering.opengl.shot"
                              " rendering.opengl.looks rendering.opengl.shaders store.frames",
                        "rendering.opengl.scenery rendering.cycles.shotframes"
                        " rendering.cycles.materials"),
    "drawn_still_code": (plan, "rendering.opengl.scenery rendering.opengl.shaders scenery.shapes",
                         "rendering.opengl.looks rendering.cycles.scenery shots.framing"),
    "still_code": (plan, "rendering.cycles.scenery scenery.shapes",
                   "shots.framing rendering.cycles.shotframes compositing.compose"),
    "clip_code": (plan, "compositing.backdrop compositing.compose compositing.video",
                  "rendering.cycles.shotframes pointlight.stimulus compositing.decode"),
    "sweeping_code": (plan, "scenery.sweeping motion.motion",
                      "scenery.clearing scenery.layout shots.framing"
                      " retarget.transfer"),
    "clearing_code": (plan, "scenery.sweeping scenery.clearing scenery.floorplan"
                            " scenery.layout scenery.shapes",
                      "rendering.opengl.scenery rendering.cycles.scenery shots.framing"
                      " compositing.compose"),
    "look_code": (plan, "compositing.camera_look",
                  "compositing.compose rendering.cycles.shotframes pointlight.drawing"),
    "display_code": (plan, "pointlight.scenes pointlight.stimulus pointlight.drawing"
                           " pointlight.filming shots.framing compositing.video",
                     "pointlight.presets rendering.cycles.shotframes choreography.perform"),
}
# By the endings of files: readers that are used, and readers that are not.
READ = {
    (".bvh",): ("readers readers.bvh readers.partners readers.trimming readers.canonical"
                " readers.dropouts readers.sides readers.posture",
                "readers.plausibility readers.c3d readers.points markers.solve readers.fbx"
                " retarget.transfer"),
    (".C3D", ".bvh"): ("readers readers.bvh readers.c3d readers.points markers.solve"
                       " markers.handedness",
                       "readers.fbx readers.npz choreography.perform"),
    (".glb",): ("readers readers.fbx readers.blender.fbx readers.partners",
                "readers.bvh readers.asf_amc readers.c3d markers.solve"),
}


def in_package(names: str) -> set[str]:
    return {f"mimegen.{name}" for name in names.split()}


@pytest.mark.parametrize("key", COVERED)
def test_a_key_covers_what_makes_its_pixels_and_nothing_else(
        key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    room, covered, left_alone = COVERED[key]
    monkeypatch.setattr(room, "code_key", lambda *modules, without=():
                        set(closure(*modules, without=without)))
    found = getattr(room, key)()
    assert in_package(covered) <= found
    assert not in_package(left_alone) & found


@pytest.mark.parametrize("suffixes", READ)
def test_a_recordings_key_covers_those_who_read_its_files(
        suffixes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    covered, left_alone = READ[suffixes]
    monkeypatch.setattr(library, "code_key",
                        lambda *modules, without: set(closure(*modules, without=without)))
    found: Any = library.recording_code(suffixes)
    assert in_package(covered) <= found
    assert not in_package(left_alone) & found


def test_every_key_is_told_apart_and_stays() -> None:
    names = {name: room for room in (library, plan) for name in vars(room)
             if name.endswith("_code") and name != "recording_code"}
    assert names.keys() == COVERED.keys()
    keys = {name: getattr(room, name)() for name, room in names.items()}
    keys |= {suffix: library.recording_code([suffix]) for suffix in (".bvh", ".c3d", ".fbx")}
    assert len(set(keys.values())) == len(keys)
    assert all(len(key) == 64 and int(key, 16) >= 0 for key in keys.values())


def test_the_installed_blender_is_named() -> None:
    parts = blender_version().split(".")
    assert len(parts) >= 2 and all(part.isdigit() for part in parts)
