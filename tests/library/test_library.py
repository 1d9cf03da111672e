
import numpy as np
import pytest
from pydantic import RootModel

from library import told
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.base.yaml_file import read_yaml
from mimegen.choreography.perform import perform_scene
from mimegen.choreography.reading import read_score
from mimegen.library.catalogue import Catalogue
from mimegen.library.takes import library_take
from mimegen.motion import Motion
from places import ROOT
from recognition import read_recognition, share

KNOWN = ("boxing/boxing", "driving/driving")


def written(folder, text):
    path = folder / "recognition.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_recognition_is_read(tmp_path):
    path = written(tmp_path, "about: five strangers\ntakes:\n"
                             "  boxing/boxing: {free: [4, 5], choice: [5, 5], remarks: stiff}\n"
                             "  driving/driving: {choice: [2, 2]}\n")
    viewers = read_recognition(path, KNOWN)
    assert viewers.takes["boxing/boxing"].free == (4, 5)
    assert viewers.takes["driving/driving"].free is None
    assert viewers.takes["boxing/boxing"].remarks == "stiff"


@pytest.mark.parametrize(("text", "wanted"), [
    ("takes:\n  boxng/boxing: {free: [1, 2]}\n", "line 2: .*no such take.*boxing/boxing"),
    ("takes:\n  boxing/boxing: {fre: [1, 2]}\n", "line 2: .*unknown key.*free"),
    ("takes:\n  boxing/boxing:\n    free: [3, 2]\n", r"line 3: .*expected \[right, asked\]"),
    ("takes:\n  boxing/boxing: {free: [0, 0]}\n", r"expected \[right, asked\]"),
    ("takes:\n  boxing/boxing: {choice: yes}\n", "line 2: "),
    ("takes: [1\n", "not valid YAML"),
])
def test_recognition_errors_name_the_line(tmp_path, text, wanted):
    path = written(tmp_path, text)
    with pytest.raises(RequestError, match=wanted) as problem:
        read_recognition(path, KNOWN)
    assert str(problem.value).startswith(str(path))
    assert "\n" not in str(problem.value)


def test_the_projects_own_recognition_names_takes_that_exist():
    known = [f"{file.parent.name}/{file.name.split('.')[0]}" for kind in ("score", "gait")
             for file in data_folder().glob(f"mocap/*/*.{kind}.yaml")]
    asked = read_recognition(ROOT / "docs" / "research" / "recognition.yaml", known).takes
    assert asked and {*asked} <= {*known}


def test_shares_add_up():
    assert share([(4, 5), (5, 5)]) == "9 of 10 (90.0 %)"
    assert share([]) == "not asked"


@pytest.mark.slow
def test_telling_moments_are_in_order_and_differ():
    score = read_score(data_folder() / "mocap" / "boxing" / "boxing.score.yaml")
    motion = perform_scene(score, 0, 15.0)[0]
    moments, = told([motion], 5)
    assert moments.frames == 5
    poses = moments.global_pose.positions
    apart = np.linalg.norm(poses[:, None] - poses[None], axis=-1).max(axis=-1)
    assert apart[np.triu_indices(5, 1)].min() > 0.15


@pytest.mark.slow
def test_who_travels_is_shown_on_the_spot():
    score = read_score(data_folder() / "mocap" / "boxing" / "boxing.score.yaml")
    motion = perform_scene(score, 0, 15.0)[0]
    away = motion.root_positions + np.linspace(0, 3, motion.frames)[:, None] * [1, 0, 0]
    moments, = told([Motion(motion.skeleton, motion.fps, away, motion.rotations)], 4)
    assert np.ptp(moments.root_positions[:, :2], axis=0).max() < 1e-9
    assert np.all(moments.root_positions[:, 2] > 0.5)


def test_takes_tell_their_group_and_intentions_to_the_manifest():
    take = library_take(Catalogue.with_libraries(()).action("basketball"), None, seed=0)
    facts = take.facts()
    assert facts["semantic_group"] == "ball sport"
    assert facts["intentions"] == ["to send a ball through a hoop from a distance"]


def test_no_two_actions_of_the_library_share_an_intention():
    entries = Catalogue.with_libraries(()).actions.values()
    intentions = [words for entry in entries for words in entry.action.intentions]
    assert all(entry.action.intentions for entry in entries)
    assert len({*intentions}) == len(intentions)


def test_names_near_a_slip_are_of_an_action_each() -> None:
    with pytest.raises(RequestError) as refused:
        Catalogue.with_libraries(()).action("playing guitr")
    said = str(refused.value).split("did you mean ")[1].removesuffix("?)").split(" or ")
    catalogue = Catalogue.with_libraries(())
    assert said[0] == "playing_guitar" and len(said) == 3
    assert len({catalogue.action(name).action.id for name in said}) == 3
    with pytest.raises(RequestError, match=r"\(mimegen list actions shows all \d+, "):
        catalogue.action("zzzzzz")


@pytest.mark.parametrize(("word", "said"), [
    ("hiking", "the group 'locomotion' contains: .*zombie_march"),
    ("to eat", r"\(did you mean eating"), ("locomotion", "contains: .*climb_ladder"),
    ("chicken dancing", r"\(did you mean chicken_dance"), ("boxng", r"\(did you mean boxing"),
    ("Boxing3", "did you mean boxing"), ("boksing", r"\(did you mean boxing")])
def test_a_word_without_an_action_leads_to_those_like_it(word: str, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        Catalogue.with_libraries(()).action(word)


@pytest.mark.parametrize("word", ["humming", "hum", "mumming", "ploughing", "bluffing",
                                  "hooking"])
def test_another_word_is_no_slip_of_the_pen(word: str) -> None:
    """What is suggested shares a word with what was asked for, not only its letters."""
    catalogue = Catalogue.with_libraries(())
    assert catalogue.near_action(word) is None
    with pytest.raises(RequestError) as refused:
        catalogue.action(word)
    said = str(refused.value).partition("did you mean ")[2]
    assert not said or word.removesuffix("ing") in said


def test_words_of_groups_name_groups_that_there_are() -> None:
    groups = read_yaml(data_folder() / "mocap/group_words.yaml",
                       RootModel[dict[str, tuple[str, ...]]]).root
    assert {*groups} == {*Catalogue.with_libraries(()).groups}
