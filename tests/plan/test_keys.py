"""What an edit of code or shared data renews: the table of edits, made in a copy of the package.

One process makes all edits, one after another, and undoes each: keys are told from sources, not
from what has been imported.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from marked_bodies import PLUG_IN_GAIT, exercise, markers, write_c3d
from mimegen.base.paths import PACKAGE, data_folder

pytestmark = pytest.mark.slow

PRINT = """
import json, sys
from dataclasses import replace
from pathlib import Path
from mimegen.base import code
from mimegen.library import keys as library
from mimegen.library.cast import DescribedPerson
from mimegen.library.casting import Casting
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.score_take import ScoreTake
from mimegen.plan import keys as plan
from mimegen.plan.shots import Rendering, Shot
from mimegen.readers.options import AS_FOUND, Trim
from mimegen.shots.config import read_config

asked = json.load(sys.stdin)
man, score, one, two, config = (Path(asked[name])
                                for name in ("man", "score", "one", "two", "config"))
facts = {"action": "a", "name": "t", "labels": ("a",), "aligned": None, "misaligned": None,
         "actor": "nobody", "licence": "none"}


def shot(take, people=1):
    members = (DescribedPerson("man", man),) * people
    return Shot(Casting(take, members), 0.0, Rendering(read_config(config), "cpu")).key


def keys():
    code._source.cache_clear()
    code._code_key.cache_clear()
    kinds = {name.removesuffix("_code"): getattr(room, name)() for room in (library, plan)
             for name in vars(room) if name.endswith("_code") and name != "recording_code"}
    kinds |= {kind: library.recording_code({"." + kind}) for kind in ("bvh", "fbx", "c3d")}
    markers = RecordedTake(file=one, **facts)
    pair = replace(markers, partner=two)
    cut = replace(AS_FOUND, trim=Trim("span", 0.5, 1.0))
    return kinds | {
        "score's shot": shot(ScoreTake(file=score, seed=0, **facts)),
        "markers' shot": shot(markers),
        "pair's shot": shot(pair, 2),
        "trimmed pair's shot": shot(replace(pair, options=cut), 2),
    }


def edited(file, added):
    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(text + added, encoding="utf-8")
    found = keys()
    Path(file).write_text(text, encoding="utf-8")
    return found


before = keys()
after = [edited(file, added) for file, added in asked["edits"]]
assert keys() == before
print(json.dumps([before, after]))
"""
KINDS = {"figure", "clothes", "lights", "score", "bvh", "fbx", "c3d", "performance", "fault",
         "shot", "still", "clip", "clearing", "sweeping", "showing", "drawn_shot", "drawn_still",
         "display", "altering", "reversing", "face", "scene", "gait", "look",
         "watching"}
SHOTS = {"score's shot", "markers' shot", "pair's shot", "trimmed pair's shot"}
OF_MARKERS = SHOTS - {"score's shot"}
RECORDED = {"bvh", "fbx", "c3d"}
ROLES = {"lights", *RECORDED, "performance", "fault", "display"}
SCORED = {"score", "scene"}
# By the edited file and what was added.
Renewed = dict[tuple[str, str], set[str]]
WORDS = '\n\n# A comment.\n"""A text that nobody reads."""\n'

EXACTLY = {
    # Which prefixes of raw markers are subjects is decided by marker sets.
    "rigs/marker_sets/cmu.yaml": {"c3d", "display"},
    "rigs/marker_sets/body.yaml": {"c3d", "display"},
    "rigs/skeletons/bone_names.yaml": ROLES | {"face"},
    "mocap/hand_shapes.yaml": SCORED | {"performance", "gait"},
    "mocap/hands/shapes.yaml": SCORED | {"performance", "gait"},
    "mocap/hands/actions.yaml": set(),
    "mocap/life.yaml": SCORED,
    "mocap/styles.yaml": SCORED,
    "mocap/body.yaml": SCORED,
    "mocap/joint_ranges.yaml": SCORED,
    # Shape keys of figures close lids as far as the file says.
    "rigs/faces/face.yaml": {"face", "shot", "drawn_shot", "display", "watching"},
    "characters/expression.py": {"face"},
    "mocap/faults.yaml": {"fault", "showing"},
    "faults/movement.py": {"fault"},
    "render_configs/pointlight/johansson.yaml": set(),
    "README.md": set(),
    "markers/solve.py": {"c3d"},
    "readers/bvh.py": {"bvh"},
    "readers/partners.py": RECORDED,
    "readers/trimming.py": RECORDED,
    "readers/ezc3d_file.py": {"c3d", "display"},
    "readers/blender/fbx.py": {"fbx"},
    "characters/imported/blender/importing.py": set(),
    # Photos grow hairs on the skin.
    "characters/body.py": {"figure", "shot"},
    "choreography/perform.py": SCORED,
    "choreography/flaws.py": SCORED,
    "scenes/compiling.py": {"scene"},
    "scenes/relations.py": set(),
    "retarget/feet.py": {"performance"},
    "retarget/performing.py": {"performance"},
    "library/altering.py": {"altering"},
    "library/reversing.py": {"reversing"},
    "library/shown_timeline.py": set(),
    "pointlight/filming.py": {"display"},
    "rendering/cycles/materials.py": {"shot"},
    "shots/framing.py": {"shot", "drawn_shot", "display", "watching"},
    "rendering/cycles/shotframes.py": {"shot"},
    "rendering/cycles/worker.py": set(),
    "rendering/cycles/scenery.py": {"still"},
    "scenery/shapes.py": {"still", "drawn_still", "clearing"},
    "scenery/clearing.py": {"clearing"},
    "scenery/sweeping.py": {"sweeping", "clearing"},
    "rendering/opengl/shot.py": {"drawn_shot"},
    "rendering/opengl/scenery.py": {"drawn_still"},
    "compositing/backdrop.py": {"clip"},
    "choreography/lint.py": set(),
    "retarget/report.py": set(),
    "pages/gallery.py": set(),
    "pages/preview.py": set(),
    "pages/contactsheet.py": set(),
    "library/importing.py": set(),
    "commands/render.py": set(),
    "farm/local.py": set(),
    "farm/dispatch.py": set(),
}
AT_LEAST = {
    "characters/fingerprint.py": {"figure", "lights", "fault"},
    "rigs/skeletons/standard.yaml": {"figure", "score", "c3d"},
    "motion/quaternions.py": KINDS - {"clip", "showing"},
    "compositing/video.py": {"clip", "display"},
    "pointlight/stimulus.py": {"display"},
}
OF_SHOTS = {
    "rigs/marker_sets/cmu.yaml": OF_MARKERS,
    "rigs/skeletons/bone_names.yaml": SHOTS,
    "mocap/life.yaml": {"score's shot"},
    "markers/solve.py": OF_MARKERS,
    "readers/partners.py": OF_MARKERS,
    "readers/trimming.py": OF_MARKERS,
    "readers/bvh.py": set(),
    "retarget/feet.py": SHOTS,
    "retarget/performing.py": SHOTS,
    "characters/body.py": SHOTS,
    "rendering/cycles/materials.py": SHOTS,
    "shots/framing.py": SHOTS,
    "rendering/cycles/scenery.py": set(),
    "scenery/shapes.py": set(),
    "scenery/clearing.py": set(),
    "scenery/sweeping.py": set(),
    "compositing/backdrop.py": set(),
    "compositing/video.py": set(),
    "choreography/lint.py": set(),
    "retarget/report.py": set(),
    "pages/gallery.py": set(),
    "pages/preview.py": set(),
}
REWORDED = ["rendering/cycles/shot.py", "markers/solve.py", "base/files.py", "choreography/life.py",
            "compositing/video.py"]


def copied(folder: Path) -> None:
    """Put the package and its data into a folder."""
    shutil.copytree(PACKAGE, folder / "generator" / "mimegen")
    for name in ("rigs", "render_configs"):
        shutil.copytree(data_folder() / name, folder / name)
    (folder / "mocap").mkdir()
    shutil.copytree(data_folder() / "mocap" / "hands", folder / "mocap" / "hands")
    for file in (data_folder() / "mocap").glob("*.yaml"):
        shutil.copy(file, folder / "mocap")
    (folder / "README.md").write_text("Words.\n")


def keys_after(folder: Path, edits: Iterable[tuple[str, str]]
               ) -> tuple[dict[str, str], list[dict[str, str]]]:
    """Return the keys in a copy, and those after each edit at the end of a file."""
    package = folder / "generator" / "mimegen"
    motion = exercise()
    asked = {
        "man": str(folder / "rigs" / "man.yaml"),
        "score": str(data_folder() / "mocap" / "deadlift" / "deadlift.score.yaml"),
        "one": str(write_c3d(folder / "one.c3d", PLUG_IN_GAIT, markers(PLUG_IN_GAIT, motion))),
        "two": str(write_c3d(folder / "two.c3d", PLUG_IN_GAIT, markers(PLUG_IN_GAIT, motion) + 1)),
        "config": str(folder / "render_configs" / "preview.yaml"),
        "edits": [(str((package if name.endswith(".py") else folder) / name), added)
                  for name, added in edits],
    }
    environment = os.environ | {"PYTHONPATH": str(folder / "generator")}
    environment.pop("MIMEGEN_LIBRARY", None)
    done = subprocess.run([sys.executable, "-c", PRINT], env=environment, input=json.dumps(asked),
                          stdout=subprocess.PIPE, text=True, check=True)
    before, after = json.loads(done.stdout)
    return before, after


@pytest.fixture(scope="module")
def before_and_renewed(tmp_path_factory: pytest.TempPathFactory
                       ) -> tuple[dict[str, str], Renewed]:
    """The keys in a copy, and which of them each edit changes."""
    folder = tmp_path_factory.mktemp("copy")
    copied(folder)
    names = dict.fromkeys([*EXACTLY, *AT_LEAST, *OF_SHOTS])
    edits = [(name, "\nEDITED = True\n" if name.endswith(".py") else "\n# edited\n")
             for name in names] + [(name, WORDS) for name in REWORDED]
    before, after = keys_after(folder, edits)
    return before, {(name, "words" if added is WORDS else "code"):
                    {kind for kind, key in keys.items() if key != before[kind]}
                    for (name, added), keys in zip(edits, after, strict=True)}


@pytest.fixture
def renewed(before_and_renewed: tuple[dict[str, str], Renewed]) -> Renewed:
    return before_and_renewed[1]


@pytest.mark.parametrize("name", EXACTLY)
def test_an_edit_renews_what_depends_on_it_and_nothing_else(
    name: str, renewed: Renewed
) -> None:
    assert renewed[name, "code"] - SHOTS == EXACTLY[name]


@pytest.mark.parametrize("name", AT_LEAST)
def test_an_edit_renews_at_least(name: str, renewed: Renewed) -> None:
    assert renewed[name, "code"] >= AT_LEAST[name]


@pytest.mark.parametrize("name", OF_SHOTS)
def test_an_edit_makes_those_shots_anew_that_it_may_change(
    name: str, renewed: Renewed
) -> None:
    assert renewed[name, "code"] & SHOTS == OF_SHOTS[name]


@pytest.mark.parametrize("name", REWORDED)
def test_words_renew_nothing(name: str, renewed: Renewed) -> None:
    assert renewed[name, "words"] == set()


def test_every_kind_and_every_shot_has_a_key_of_its_own(
    before_and_renewed: tuple[dict[str, str], Renewed]
) -> None:
    before = before_and_renewed[0]
    assert set(before) == KINDS | SHOTS
    assert len(set(before.values())) == len(before)
