"""Differences between accuracies: tests and intervals that agree, and what a design can find."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from mimegen.base.arrays import FloatArray
from mimegen.evaluation.differences import (
    LEVEL,
    MCNEMAR,
    AnswerPair,
    difference,
    difference_p,
    power_sentence,
)
from mimegen.evaluation.pairs import action_clusters
from mimegen.evaluation.question import Question
from mimegen.evaluation.reliance import reliance
from mimegen.evaluation.scoring import ScoredAnswer
from mimegen.evaluation.tables import report


def single_pairs(same: int, lost: int, gained: int) -> list[AnswerPair]:
    """One pair of each action: equal ones, ones that only the first has right, and the reverse."""
    shares = [(1.0, 1.0)] * same + [(1.0, 0.0)] * lost + [(0.0, 1.0)] * gained
    return [AnswerPair(f"a{number}", *both) for number, both in enumerate(shares)]


def test_five_of_five_are_no_proof_in_p_or_interval() -> None:
    found = difference(single_pairs(7, 0, 5), "x")
    assert (found["test"], found["p"]) == (MCNEMAR, 0.0625)
    assert found["interval"][0] == found["bootstrap"][0] == 0 < found["interval"][1]
    more = difference(single_pairs(7, 0, 6), "x")
    assert more["p"] < 1 - LEVEL and more["interval"][0] > 0


@given(some.integers(0, 30), some.integers(0, 12), some.integers(0, 12))
def test_an_interval_that_leaves_out_0_has_a_p_below_its_level(same: int, lost: int, gained: int
                                                               ) -> None:
    if same + lost + gained < 6:
        return
    found = difference(single_pairs(same, lost, gained), "x")
    low, high = found["interval"]
    if found["p"] >= 1 - LEVEL:
        assert low <= 0 <= high


def test_the_detectable_difference_is_found_in_four_of_five_studies() -> None:
    """Thirty actions with a true difference of that size, and effects of actions of 30 points."""
    draws = np.random.default_rng(5)
    one = [AnswerPair(f"a{number}", 0.0, float(share))
           for number, share in enumerate(_of_spread(draws.normal(size=30), 0.3))]
    found = difference(one, "x")
    assert found["detectable"] == pytest.approx(0.159, abs=0.002)
    true = found["detectable"] + 0.3 * draws.normal(size=(600, 30))
    seen = np.mean([difference_p([(f"a{number}", float(share), 0.0) for number, share
                                  in enumerate(study)]) < 1 - LEVEL for study in true])
    assert seen == pytest.approx(0.8, abs=0.05)
    # With that many actions, ten points are as far from 0 as 15.9 points with thirty.
    assert found["actions_for_ten"] == pytest.approx(30 * (0.159 / 0.1) ** 2, rel=0.1)
    assert "30 actions" in power_sentence(found) and "16 points" in power_sentence(found)


def _of_spread(values: FloatArray, spread: float) -> FloatArray:
    """Return values with mean 0 and exactly this standard deviation."""
    return np.asarray((values - values.mean()) / values.std(ddof=1) * spread)


def test_actions_that_do_not_vary_tell_nothing_of_power() -> None:
    found = difference([AnswerPair(f"a{number}", 0.0, 0.5) for number in range(8)], "x")
    assert found["detectable"] is None and power_sentence(found) == ""


def question(name: str, action: str, **fields: object) -> Question:
    return Question.model_validate({
        "question_id": name, "sample_id": name, "action": action, "variant": "base+blank@0",
        "format": "mc", "prompt": "?", "options": ["a", "b"], "answer": "a", "labels": ["a"],
        **fields})


def test_both_halves_of_a_pair_belong_to_one_action() -> None:
    """The order of two steps gives the halves of a pair different actions."""
    halves = [question("1", "sit_then_wave", pair="p"), question("2", "wave_then_sit", pair="p"),
              question("3", "boxing")]
    scored = [ScoredAnswer(one, "m", "a", number != 1) for number, one in enumerate(halves)]
    assert action_clusters(scored) == ["sit_then_wave", "sit_then_wave", "boxing"]
    [table] = report(scored[:2], halves[:2])["models"]
    [alone] = report([ScoredAnswer(question(name, "boxing", pair="p"), "m", "a", name == "1")
                      for name in "12"], halves[:2])["models"]
    assert table["by_action"] == alone["by_action"]


def test_single_frames_of_a_clip_are_no_variants_of_it() -> None:
    full = question("full", "boxing", performance="x")
    frames = [question(f"f{number}", "boxing", performance="x", control="one frame",
                       control_of="full", frames=[number]) for number in range(4)]
    asked = [full, *frames]
    scored = [ScoredAnswer(one, "m", "a", True) for one in asked]
    assert not any("whole" in table for table in report(scored, asked)["models"])
    [found] = reliance(scored, asked)
    assert found["sentences"] == [
        "From a single frame it is right in 100.0%, from all frames in 100.0%: a difference of"
        " +0.0 points (no interval: too few actions). This does not show that the questions need"
        " more than one frame."]


@pytest.mark.parametrize(("misled", "said"), [
    (6, "The answers rely on the background (McNemar: p = 0.031,"),
    (5, "Whether the answers rely on the background is undecided (McNemar: p = 0.062,"),
    (0, "is undecided (McNemar: p = 1,")])
def test_reliance_on_backgrounds_has_a_verdict(misled: int, said: str) -> None:
    scored = []
    for number in range(12):
        for background in ("aligned", "misaligned"):
            one = question(f"{background}{number}", f"a{number}", performance=f"p{number}",
                           variant=f"base+{background}@0", background_config=background)
            scored.append(ScoredAnswer(one, "m", "a", background == "aligned" or number >= misled))
    [found] = reliance(scored, [])
    assert said in found["sentences"][0]
    low, high = found["background"]["interval"]
    assert (low > 0) == (misled == 6) and (f"up to {100 * high:.1f} points are not excluded" in
                                          found["sentences"][0]) == (misled < 6)
