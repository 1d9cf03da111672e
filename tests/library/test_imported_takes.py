"""Imported takes are removed and relabelled; files of the user's own stay."""

import json
from pathlib import Path

import pytest

from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from running import invoke, invoked


@pytest.fixture(scope="module")
def motion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A motion file of a person."""
    file = tmp_path_factory.mktemp("motion") / "wave.bvh"
    done = invoked("take", "export", "--action", "boxing", "--fps", "10", "--out", file)
    assert done.returncode == 0, done.stderr
    return file


@pytest.fixture
def mine(motion: Path, tmp_path: Path) -> Path:
    """A library with a take of an own action, and one of an action of mimegen."""
    library = tmp_path / "mine"
    for action in ("fire juggling", "boxing"):
        done = invoke("import", motion, "--library", library, "--action", action, "--trim", "none")
        assert done.exit_code == 0, done.stderr
    return library


def files_of(library: Path) -> list[str]:
    return sorted(str(file.relative_to(library)) for file in library.rglob("*") if file.is_file())


def remove(library: Path, *arguments: object) -> tuple[int, str]:
    done = invoked("take", "remove", "--library", library, *arguments)
    return done.returncode, done.stdout + done.stderr


def test_an_action_goes_with_its_files_and_nothing_else(mine: Path, motion: Path) -> None:
    own = mine / "backgrounds" / "yard.yaml"
    own.parent.mkdir()
    own.write_text("name: yard\n")
    status, said = remove(mine, "--action", "fire juggling")
    assert status == 0 and "clips that were rendered from it stay" in said
    assert files_of(mine) == ["backgrounds/yard.yaml", "mocap/boxing/wave.bvh",
                              "mocap/boxing/wave.take.yaml"]
    assert not (mine / "mocap" / "fire_juggling").exists() and motion.is_file()
    folder = mine / "mocap" / "fire_juggling"
    for name in ("wave.bvh", "wave.take.yaml", "action.yaml"):
        assert f"removed {folder / name}\n" in said
    assert remove(mine, "--action", "boxing")[0] == 0
    assert files_of(mine) == ["backgrounds/yard.yaml"]
    assert library_take(Catalogue.with_libraries((mine,)).action("boxing"), None, 0).name != "wave"


def test_lists_show_what_was_imported(mine: Path) -> None:
    ids = invoked("list", "actions", "--imported", "--library", mine, "--ids").stdout.split()
    assert ids == ["boxing", "fire_juggling"]
    takes = json.loads(invoked("list", "takes", "--imported", "--library", mine, "--json").stdout)
    assert [(one["action"], one["take"]) for one in takes] == [
        ("boxing", "wave"), ("fire_juggling", "wave")]
    for arguments, message in (((), "requires --library"),
                               (("--library", mine), "requires the kind")):
        kind = "actions" if not arguments else "characters"
        done = invoked("list", kind, "--imported", *arguments)
        assert done.returncode == 2 and message in done.stderr


def test_one_of_several_takes_leaves_what_the_others_need(motion: Path, mine: Path) -> None:
    """Takes that a recording was segmented into share its file."""
    folder = mine / "mocap" / "fire_juggling"
    again = (folder / "wave.take.yaml").read_text()
    (folder / "wave_02.take.yaml").write_text(again)
    status, _ = remove(mine, "--action", "fire juggling", "--take", "wave_02")
    assert status == 0 and sorted(file.name for file in folder.iterdir()) == [
        "action.yaml", "wave.bvh", "wave.take.yaml"]


@pytest.mark.parametrize("name", ["wave.bvh", "action.yaml"])
def test_what_was_edited_stays(mine: Path, name: str) -> None:
    edited = mine / "mocap" / "fire_juggling" / name
    edited.write_text(edited.read_text() + ("\n" if name.endswith("bvh") else "# mine\n"))
    before = files_of(mine)
    status, said = remove(mine, "--action", "fire juggling")
    if name == "wave.bvh":
        assert status == 2 and "differs from the imported file, so nothing was removed" in said
        assert said.count("\n") == 1 and files_of(mine) == before
    else:
        assert status == 0 and f"kept    {edited}" in said and edited.is_file()
        assert not edited.with_name("wave.bvh").exists()


def test_files_that_no_import_wrote_stay(mine: Path, motion: Path) -> None:
    """A motion file, a score and a mapping that the user put there are theirs."""
    folder = mine / "mocap" / "fire_juggling"
    (folder / "dropped.bvh").write_bytes(motion.read_bytes())
    (folder / "mine.roles.yaml").write_text("left_toe: null\n")
    status, _ = remove(mine, "--action", "fire juggling")
    assert status == 0 and sorted(file.name for file in folder.iterdir()) == [
        "action.yaml", "dropped.bvh", "mine.roles.yaml"]
    status, said = remove(mine, "--action", "fire juggling")
    assert status == 2 and "has no imported take" in said
    bare = mine / "mocap" / "boxing" / "wave.take.yaml"
    bare.unlink()
    assert remove(mine, "--action", "boxing")[0] == 2 and bare.with_name("wave.bvh").is_file()


def test_a_mapping_goes_with_its_take_unless_it_was_edited(motion: Path, tmp_path: Path) -> None:
    mapping = tmp_path / "roles.yaml"
    mapping.write_text("left_toe: null\n")
    for name, edits in (("plain", False), ("edited", True)):
        library = tmp_path / name
        assert invoke("import", motion, "--library", library, "--action", "boxing", "--map",
                      mapping, "--trim", "none").exit_code == 0
        copy = library / "mocap" / "boxing" / "wave.roles.yaml"
        if edits:
            copy.write_text("right_toe: null\n")
        status, said = remove(library, "--action", "boxing")
        assert status == 0 and copy.exists() == edits and (f"kept    {copy}" in said) == edits


def test_killed_while_removing_it_goes_on(mine: Path) -> None:
    """The motion is removed before the take file, and the action's file last."""
    folder = mine / "mocap" / "fire_juggling"
    (folder / "wave.bvh").unlink()
    assert remove(mine, "--action", "fire_juggling")[0] == 0 and not folder.exists()


def test_an_action_without_takes_is_removed(mine: Path) -> None:
    folder = mine / "mocap" / "fire_juggling"
    for name in ("wave.bvh", "wave.take.yaml"):
        (folder / name).unlink()
    assert remove(mine, "--action", "fire_juggling")[0] == 0 and not folder.exists()


@pytest.mark.parametrize(("arguments", "message"), [
    (("--action", "fire jugling"), "did you mean fire_juggling"),
    (("--action", "boxing", "--take", "wavy"), "no imported take 'wavy' (available: wave)"),
    (("--action", "violin"), "has no action 'violin'"),
])
def test_what_is_not_there_is_named(mine: Path, arguments: tuple[str, ...], message: str) -> None:
    status, said = remove(mine, *arguments)
    assert status == 2 and message in said and said.count("\n") == 1


def test_import_says_which_command_removes(tmp_path: Path) -> None:
    done = invoked("import", "--remove", "boxing")
    assert done.returncode == 2 and "mimegen take remove does that" in done.stderr


def labels_of(library: Path, action: str) -> tuple[str, ...]:
    return library_take(Catalogue.with_libraries((library,)).action(action), "wave", 0).labels


def test_an_action_gets_other_labels(mine: Path) -> None:
    def relabel(*arguments: object) -> tuple[int, str]:
        done = invoked("take", "relabel", "--library", mine, *arguments)
        return done.returncode, done.stdout + done.stderr

    assert relabel("--action", "fire juggling", "--label", "juggling torches", "--label",
                   "juggling")[0] == 0
    assert labels_of(mine, "fire_juggling") == ("juggling torches", "juggling")
    assert Catalogue.with_libraries((mine,)).action("juggling torches").action.id == "fire_juggling"
    assert relabel("--action", "boxing", "--label", "shadow boxing")[0] == 0
    assert labels_of(mine, "boxing") == ("shadow boxing",)
    file = mine / "mocap" / "fire_juggling" / "action.yaml"
    file.write_text(file.read_text() + "# my remarks\n")
    status, said = relabel("--action", "fire juggling", "--label", "x")
    assert status == 2 and "change its labels there" in said and "# my remarks" in file.read_text()
    assert relabel("--action", "boxing", "--label", " ")[0] == 2
