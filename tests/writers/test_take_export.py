"""Takes go to files of all formats and read back to the same motion; takes answer to aliases."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import Result

from bodies import read_back
from mimegen.base.paths import data_folder
from mimegen.characters.imported.importing import import_character
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion import Motion
from running import invoke

FPS = 30.0
BOXING = data_folder() / "mocap" / "boxing" / "boxing.score.yaml"


def export(*arguments: object) -> Result:
    return invoke("take", "export", *arguments)


def largest_error(first: Motion, second: Motion) -> float:
    """Return the largest error in place, in metres; readers put the person on the floor."""
    order = [second.skeleton.index[name] for name in first.skeleton.names]
    apart = first.global_pose.positions - second.global_pose.positions[:, order]
    apart[..., 2] -= np.median(apart[..., 2])
    return float(np.abs(apart).max())


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "tolerance_m"),
                         [("bvh", 1e-4), ("npz", 1e-9), ("fbx", 1e-3), ("glb", 1e-3)])
def test_a_take_reads_back_to_the_same_motion(tmp_path: Path, kind: str,
                                              tolerance_m: float) -> None:
    done = export("--action", "boxing", "--seed", 3, "--style", "brisk", "--fps", FPS,
                  "--format", kind, "--out", tmp_path / "brisk")
    assert done.exit_code == 0, done.output
    made = perform_scene(read_score(BOXING), 3, FPS, "brisk")[0]
    back = read_back(tmp_path / f"brisk.{kind}")
    assert back.frames == made.frames and back.fps == pytest.approx(FPS)
    assert largest_error(made, back) < tolerance_m


def test_two_performers_are_two_files_in_one_world(tmp_path: Path) -> None:
    done = export("--action", "high five", "--fps", FPS, "--format", "npz",
                  "--out", tmp_path / "five.npz")
    assert done.exit_code == 0, done.output
    assert sorted(file.name for file in tmp_path.iterdir()) == ["five_1.npz", "five_2.npz"]
    pair = [read_back(tmp_path / f"five_{number}.npz") for number in (1, 2)]
    apart = np.linalg.norm((pair[0].root_positions - pair[1].root_positions)[:, :2], axis=1)
    assert apart.min() > 0.4 and apart.max() < 2.0


def test_a_character_takes_its_skeleton_and_skin_along(tmp_path: Path) -> None:
    done = export("--action", "boxing", "--fps", 2, "--character", "man", "--format", "glb",
                  "--out", tmp_path / "man.glb")
    assert done.exit_code == 0, done.output
    assert len(import_character(tmp_path / "man.glb").meshes) > 0


@pytest.mark.parametrize(("arguments", "hint"), [
    (("--action", "boxign"), "boxing"),
    (("--action", "boxing", "--take", "tango"), "boxing"),
    (("--action", "boxing", "--character", "mna"), "man"),
    (("--action", "boxing", "--library", "absent"), "no such folder"),
])
def test_wrong_names_are_one_line_and_leave_nothing(
    arguments: tuple[str, ...], hint: str, tmp_path: Path
) -> None:
    done = export(*arguments, "--out", tmp_path / "take.bvh")
    assert done.exit_code == 2
    assert len(done.output.strip().splitlines()) == 1 and hint in done.output
    assert not list(tmp_path.iterdir())


def test_takes_answer_to_their_own_aliases() -> None:
    catalogue = Catalogue.with_libraries(())
    for entry in catalogue.actions.values():
        for name, facts in entry.action.takes.items():
            for alias in facts.aliases:
                take = library_take(catalogue.action(alias), None, 0)
                assert (take.action, take.name) == (entry.action.id, name), alias
    assert library_take(catalogue.action("driving"), None, 0).name == "driving"
    assert library_take(catalogue.action("Gear-Shift"), "driving", 0).name == "driving"
