"""Minimal pairs: their halves differ in the factor that they name, and in nothing else."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from mimegen.base.arrays import FloatArray
from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.library.cast import CastMember
from mimegen.library.catalogue import Catalogue
from mimegen.library.score_take import ScoreTake
from mimegen.library.take import LibraryTake
from mimegen.library.takes import library_take
from mimegen.manifest.timeline import Interval
from mimegen.motion.editing import mirrored
from mimegen.plan.permute.declaration import Declaration, read_spec
from mimegen.plan.permute.factors import FACTORS, parse_factors
from mimegen.plan.permute.good_takes import GoodTakes
from mimegen.plan.permute.pairs import pairs_of
from mimegen.plan.permute.planned import permuted_plan, take_of
from mimegen.plan.permute.suited_takes import leading_hand, shows_hand
from mimegen.request.sources import entries_of
from permuting import CATALOGUE, AllGood
from running import invoke

ACTIONS = "boxing,bowling,playing_violin"
# What each factor may change in a declaration, beside the mark of the pair.
CHANGES = {
    "action": {"action", "take", "motion_sha256"}, "speed": {"tempo"}, "style": {"style"},
    "repetitions": {"frequency"}, "fault": {"fault", "fault_amount"}, "mirror": {"mirror"},
    "background": {"background", "background_kind"}, "performer": {"character"},
    "angle": {"azimuth"}, "hand": {"mirror"}, "agent": {"character", "partner"},
    "emotion": {"emotion"}, "order": {"action", "take", "motion_sha256", "then"},
    "target": {"take", "motion_sha256"}, "reversed": {"reverse"},
}
# Actions that suit a factor, where ACTIONS do not.
SUITED = {"repetitions": "cues", "order": "wave,clap,sneeze,squat_down", "target": "directed",
          "agent": "push_other,hand_over,shake_hands",
          "reversed": "bowling,javelin_throw,playing_acoustic_guitar"}


@pytest.fixture(autouse=True)
def takes_are_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GoodTakes, "of_user", staticmethod(lambda: AllGood(Path(), {})))


def drawn(factor: str, count: int = 4, seed: int = 1, actions: str = "", *fixes: str
          ) -> list[Declaration]:
    names = actions or SUITED.get(factor, ACTIONS)
    found = pairs_of(CATALOGUE, entries_of(CATALOGUE, names), FACTORS[factor],
                    ("config=draft", *fixes), count, seed)
    return [half for pair in found for half in pair]


class NoFastBoxing(AllGood):
    """Finds a fault in boxing that is played fast, whoever does it and with whatever seed."""

    def findings(self, take: ScoreTake, people: Sequence[CastMember] = ()) -> list[str]:
        is_too_fast = take.action == "boxing" and take.tempo > 1
        return ["LeftForeArm turns at 2859 degrees/s"] if is_too_fast else []


def test_an_action_that_no_seed_plays_fast_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {one.action for one in drawn("speed", 8, actions="boxing,bowling")}
    assert expected == {"boxing", "bowling"}, "some of these pairs are drawn anew"
    monkeypatch.setattr(GoodTakes, "of_user", staticmethod(lambda: NoFastBoxing(Path(), {})))
    made = drawn("speed", 8, actions="boxing,bowling")
    assert len(made) == 16 and {one.action for one in made} == {"bowling"}
    # The first pairs do not depend on how many there are.
    assert drawn("speed", 3, actions="boxing,bowling") == made[:6]
    with pytest.raises(RequestError, match="the last: boxing: LeftForeArm turns at 2859"):
        drawn("speed", 1, actions="boxing")


def test_a_folder_with_another_commitment_is_refused_before_sampling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "COMMITMENT.json").write_text("{}")
    monkeypatch.setattr("mimegen.commands.pairs.pairs_of", lambda *_: pytest.fail("samples"))
    for command in (["pairs"], ["permute", "--count", "5"]):
        done = invoke(*command, "--out", tmp_path / "SPEC.jsonl")
        assert done.exit_code == 2 and "commits to other clips" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("factor", FACTORS)
def test_the_halves_of_a_pair_differ_in_their_factor_alone(factor: str) -> None:
    made = drawn(factor, 2)
    assert len(made) == 4
    for first, second in zip(made[::2], made[1::2], strict=True):
        one, other = first.content(), second.content()
        assert one["pair"]["id"] == other["pair"]["id"]
        assert one["pair"]["value"] != other["pair"]["value"]
        differ = {name for name in {*one, *other} if one.get(name) != other.get(name)}
        assert differ - {"pair"} and differ - {"pair"} <= CHANGES[factor]
    assert {one.pair.factor for one in made if one.pair} == {factor}


@pytest.mark.slow
def test_the_first_pairs_do_not_depend_on_their_number_and_seeds_draw_others() -> None:
    assert drawn("mirror", 2) == drawn("mirror", 4)[:4]
    assert drawn("mirror", 2, seed=2) != drawn("mirror", 2)


@pytest.mark.slow
def test_every_half_can_be_planned(tmp_path: Path) -> None:
    spec = tmp_path / "SPEC.jsonl"
    made = [one for factor in FACTORS for one in drawn(factor, 1)]
    spec.write_text("".join(json.dumps(one.content()) + "\n" for one in made))
    plan = permuted_plan(CATALOGUE, read_spec(spec), "cpu")
    assert plan.clips == 2 * len(FACTORS)
    assert len({clip.key for casting in plan.castings() for clip in casting.clips}) == plan.clips


def test_what_suits_no_take_is_refused() -> None:
    with pytest.raises(RequestError, match="--factors repetitions: no take"):
        drawn("repetitions", actions="bowling")
    with pytest.raises(RequestError, match="no such factor"):
        parse_factors("sped")


@pytest.mark.slow
def test_agents_are_in_each_others_parts_where_parts_differ() -> None:
    made = drawn("agent")
    assert {one.action for one in made} <= {"push_other", "hand_over"}
    assert all({one.character, one.partner} == {"man", "woman"} for one in made)
    assert all(one.pair is not None and one.pair.value == one.character for one in made)


@pytest.mark.slow
def test_the_halves_of_an_order_pair_show_the_same_two_actions_in_either_order() -> None:
    made = drawn("order", 3, actions="wave,clap,sneeze,squat_down")
    for first, second in zip(made[::2], made[1::2], strict=True):
        takes = [take_of(CATALOGUE, one) for one in (first, second)]
        shown = [[one.name for one in take.timeline or () if one.kind == "action"]
                 for take in takes]
        assert shown[0] == shown[1][::-1] and len({*shown[0]}) == 2
        one, other = takes[0].labels[0].split(", then ")
        assert takes[1].labels == (f"{other}, then {one}",)
        assert takes[0].key != takes[1].key


@pytest.mark.slow
def test_what_lasts_long_or_walks_is_not_put_before_or_after_another() -> None:
    with pytest.raises(RequestError, match="--factors order: no take"):
        drawn("order", 1, actions="playing_violin,sneak,shake_hands,anger")
    with pytest.raises(RequestError, match="none of"):
        # Of one group, which viewers may take for each other.
        drawn("order", 1, actions="boxing,boxing_uppercut")


@pytest.mark.slow
def test_another_file_than_the_declared_second_one_is_refused(tmp_path: Path) -> None:
    half = drawn("order", 1)[0].content()
    half["then"]["motion_sha256"] = "0" * 64
    spec = tmp_path / "SPEC.jsonl"
    spec.write_text(json.dumps(half) + "\n")
    with pytest.raises(RequestError, match="differs from the declared file"):
        permuted_plan(CATALOGUE, read_spec(spec), "cpu")


@pytest.mark.slow
def test_the_halves_of_a_target_pair_reach_in_opposite_directions() -> None:
    made = drawn("target", 8, actions="point_to,reach_to")
    for first, second in zip(made[::2], made[1::2], strict=True):
        axis = {"left": 0, "up": 2}[first.take]
        one, other = (_reach(take_of(CATALOGUE, half))[axis] for half in (first, second))
        assert one - other > 0.5, (first.action, first.take, first.seed)
    assert {one.take for one in made} == {"left", "right", "up", "down"}


def _reach(take: LibraryTake) -> FloatArray:
    """Where the right hand goes: to the person's left, ahead, up, in metres, late in the step."""
    assert isinstance(take, ScoreTake)
    motion = take.sources(30)[0][0]
    hand = motion.global_pose.positions[:, motion.skeleton.names.index("RightHand")]
    step = next(one for one in take.timeline if one.kind == "step")
    moved = hand[round((0.3 * step.start_s + 0.7 * step.end_s) * 30)] - hand[0]
    # The azimuth of the front is 0 along -Y and 90 along +X; left is a quarter turn on.
    turn = np.radians(take.front_deg)
    left, ahead = (np.array([np.sin(a), -np.cos(a), 0]) for a in (turn + np.pi / 2, turn))
    return np.array([moved @ left, moved @ ahead, moved[2]])


def test_a_score_that_seeds_mirror_goes_neither_left_nor_right(tmp_path: Path) -> None:
    place = tmp_path / "directed" / "nod_to"
    place.mkdir(parents=True)
    own = data_folder() / "directed" / "look_to"
    for name in ("left.score.yaml", "right.score.yaml", "action.yaml"):
        text = (own / name).read_text(encoding="utf-8").replace("look_to", "nod_to")
        (place / name).write_text(text.replace(", mirror: false", ""), encoding="utf-8")
    catalogue = Catalogue.with_libraries((tmp_path,))
    take = library_take(catalogue.action("nod_to"), "left", 1)
    assert not FACTORS["target"].suits(take)
    assert FACTORS["target"].suits(library_take(CATALOGUE.action("look_to"), "left", 1))


@pytest.mark.slow
@pytest.mark.parametrize("fixes", [(), ("mirror=yes",)])
def test_the_hand_of_a_half_moves_most(fixes: tuple[str, ...]) -> None:
    made = drawn("hand", 2, 1, "knocking_on_door", *fixes)
    for one in made:
        take = take_of(CATALOGUE, one)
        [(motion, _)] = take.sources(30)
        shown = mirrored(motion) if take.mirror else motion
        places, index = shown.global_pose.positions, shown.skeleton.index
        far = {hand: float(np.linalg.norm(np.diff(
            places[:, index[f"{hand.title()}Hand"]] - places[:, index["Spine2"]], axis=0),
            axis=-1).sum()) for hand in ("left", "right")}
        assert one.pair is not None and max(far, key=lambda hand: far[hand]) == one.pair.value


@pytest.mark.parametrize(("action", "shown"), [
    ("knocking_on_door", True), ("jumping_jacks", False)])
def test_a_hand_that_does_one_step_of_many_does_not_lead(action: str, shown: bool) -> None:
    take = library_take(CATALOGUE.action(action), None, 0)
    assert leading_hand(take.timeline or ()) == "right"
    assert shows_hand(take) is shown


def test_two_people_have_no_hand_that_both_mostly_use() -> None:
    assert not FACTORS["hand"].suits(library_take(CATALOGUE.action("hold_hands"), None, 0))


def test_one_hand_leads_where_it_does_nearly_everything() -> None:
    def step(hand: str | None, seconds: float, performer: str = "performer") -> Interval:
        return Interval.model_validate({"kind": "step", "name": "moves", "start_s": 0,
                                        "end_s": seconds, "hand": hand, "performer": performer})

    assert leading_hand([step("right", 3), step("left", 1), step(None, 9)]) == "right"
    other = step("right", 9, "partner")
    assert leading_hand([step("left", 3), step("right", 0.5), other]) == "left"
    assert leading_hand([step("right", 2), step("left", 1)]) is None
    assert leading_hand([step(None, 2)]) is None


@pytest.mark.slow
def test_only_takes_that_show_which_way_time_runs_are_played_backwards() -> None:
    made = drawn("reversed", 3)
    assert {one.action for one in made} <= {"bowling", "javelin_throw"}
    assert {one.pair.value: bool(one.reverse) for one in made if one.pair} == {
        "forwards": False, "backwards": True}
    for first, second in zip(made[::2], made[1::2], strict=True):
        ahead, back = (take_of(CATALOGUE, half) for half in (first, second))
        assert back.reverse and not ahead.reverse and ahead.labels == back.labels
        assert ahead.front_deg == back.front_deg and ahead.frames(24.0) == back.frames(24.0)
    with pytest.raises(RequestError, match="none of 60 drawn takes suits it"):
        drawn("reversed", 1, actions="playing_acoustic_guitar")


@pytest.mark.slow
def test_an_emotion_is_laid_over_the_face_and_told_in_the_row() -> None:
    first, second = (take_of(CATALOGUE, one) for one in drawn("emotion", 1))
    for take in (first, second):
        assert take.overlay is not None
        assert take.facts()["face"]["emotion"] == take.overlay.emotion
    assert first.key == second.key, 'the body moves alike'


@pytest.mark.slow
def test_all_emotions_are_contrasted_and_no_action_that_is_one() -> None:
    made = drawn("emotion", 60, actions="boxing")
    pairs = {(one.emotion, other.emotion) for one, other in zip(made[::2], made[1::2], strict=True)}
    assert all(one != other for one, other in pairs)
    assert len(pairs) > 20, "of 42"
    with pytest.raises(RequestError, match="no take of these actions suits"):
        drawn("emotion", 1, actions="anger,disgust")


@pytest.mark.slow
def test_the_command_writes_pairs_and_a_commitment(tmp_path: Path) -> None:
    done = invoke("pairs", "--factors", "speed,angle", "--count", 2, "--actions", ACTIONS,
                  "--out", tmp_path / "SPEC.jsonl")
    assert done.exit_code == 0, done.output
    assert len(read_spec(tmp_path / "SPEC.jsonl")) == 8
    assert (tmp_path / "COMMITMENT.json").is_file()
    checked = invoke("permute", "--verify", tmp_path / "COMMITMENT.json", tmp_path / "SPEC.jsonl")
    assert "all 8 declarations match" in checked.output
