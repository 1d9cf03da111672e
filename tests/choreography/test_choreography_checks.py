"""What must be seen of a take: looked for on whoever performs it, mirrored or not."""

import re
from pathlib import Path

import pytest

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_folder
from mimegen.choreography.body import centimetre
from mimegen.choreography.checks import CHECKS_SUFFIX, check_results, missed, read_checks
from mimegen.choreography.finding import Finding
from mimegen.choreography.life import ALL_VARIATION, KeptVariation
from mimegen.choreography.perform import (
    BORROWED_VARIATIONS,
    LOOKED_AT_FPS,
    MARGIN,
    OF_WRITTEN,
    VARIATIONS,
    kept_variation,
    perform_scene,
)
from mimegen.choreography.reading import read_score
from mimegen.choreography.score import Score
from mimegen.choreography.solving import solved_scene
from mimegen.choreography.variation import vary
from mimegen.library.catalogue import Catalogue
from mimegen.library.score_take import ScoreTake
from mimegen.library.takes import library_take
from mimegen.motion import Motion, standard_skeleton
from mimegen.plan.permute.good_takes import GoodTakes

FPS = 20.0
SCORE = """\
action: waving
about: raises a hand
duration: 2
phases:
  - {at: 0}
  - {at: 1, right_hand: {to: HIGH, touch: palm}}
  - {at: 2, right_hand: {to: hip 14 5 4, touch: wrist, loose: true}}
"""
SEEN = """\
checks:
  - {about: the hand is raised, height: [right_palm, right_shoulder], least: 5, from: 0.5, to: 1.5}
  - {about: the other is not, height: [left_wrist, left_shoulder], most: -30, when: all}
"""


def waving(folder: Path, high: str = "shoulder 20 22 26", seen: str = SEEN) -> Score:
    file = folder / "waving.score.yaml"
    file.write_text(SCORE.replace("HIGH", high), encoding="utf-8")
    (folder / f"waving{CHECKS_SUFFIX}").write_text(seen, encoding="utf-8")
    return read_score(file)


def unseen(score: Score, seed: int = 0) -> list[str]:
    return [one.part for one in missed(perform_scene(score, seed, FPS), score, seed)]


def test_what_is_not_seen_is_found(tmp_path: Path) -> None:
    assert unseen(waving(tmp_path)) == []
    assert unseen(waving(tmp_path, high="shoulder 20 22 -20")) == ["the hand is raised"]


def test_a_mirrored_take_is_looked_at_in_the_mirror(tmp_path: Path) -> None:
    score = waving(tmp_path)
    mirrored = next(seed for seed in range(1, 40) if vary(score, seed)[0].mirror)
    assert unseen(score, mirrored) == []


def test_a_check_has_its_time_and_says_it_in_the_scores_seconds(tmp_path: Path) -> None:
    late = SEEN.replace("from: 0.5, to: 1.5", "from: 1.95, to: 2")
    [found] = missed(perform_scene(waving(tmp_path, seen=late), 0, FPS),
                     waving(tmp_path, seen=late))
    assert found.time > 1.7 and found.value < found.limit == 5


@pytest.mark.parametrize(("right", "wrong", "message"), [
    ("right_palm", "right_plam", r"line 2: .*height: unknown point 'right_plam'.*right_palm"),
    ("to: 1.5", "to: 9", r"line 2: .*is outside the score, which lasts 2 s"),
    ("least: 5", "least: 5, most: 6", r"line 2: .*says least or most"),
    ("height: [right", "bend: right_elbow, height: [right", r"line 2: .*says one of distance"),
])
def test_errors_name_file_and_line(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    score = waving(tmp_path, seen=SEEN.replace(right, wrong, 1))
    with pytest.raises(RequestError, match=message):
        read_checks(score)


@pytest.mark.slow
def test_every_take_of_the_library_says_what_must_be_seen() -> None:
    scores = sorted(data_folder().glob("mocap/*/*.score.yaml"))
    assert all(read_checks(read_score(path)) for path in scores)
    beside = {path.name.removesuffix(".score.yaml") for path in scores}
    assert {re.sub(r"\.checks\.yaml$", "", path.name)
            for path in data_folder().glob("mocap/*/*.checks.yaml")} == beside


def highest(motion: Motion) -> float:
    """Return how high, in metres, the higher wrist gets."""
    hands = [motion.skeleton.index[f"{side}Hand"] for side in ("Left", "Right")]
    return float(motion.global_pose.positions[:, hands, 2].max())


@pytest.mark.slow
def test_a_take_that_does_not_show_it_is_no_good_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take = library_take(Catalogue.with_libraries(()).action("checking_watch"), None, 0)
    assert isinstance(take, ScoreTake)
    good = GoodTakes(tmp_path / "lint.jsonl")
    assert good.findings(take) == []
    monkeypatch.setattr("mimegen.choreography.checks.read_checks", lambda score: read_checks(
        waving(tmp_path, seen=SEEN.replace("least: 5", "least: 90"))))
    assert any("the hand is raised" in one for one in GoodTakes(tmp_path / "x").findings(take))


@pytest.mark.slow
def test_a_seed_that_asks_for_too_much_keeps_a_share_of_its_variation(tmp_path: Path) -> None:
    score, seed, style = waving(tmp_path, seen="checks: []"), 3, "exaggerated"
    assert kept_variation(score, seed, style) == ALL_VARIATION
    whole, half = (highest(solved_scene(score, seed, LOOKED_AT_FPS, style, KeptVariation(share))[0])
                   for share in (1.0, 0.5))
    assert whole > half + 0.01
    most = (whole + half) / 2 / centimetre(standard_skeleton())
    other = waving(tmp_path, seen="checks: [{about: not so high, when: all, most: "
                                  f"{most:.2f}, height: [right_wrist, floor]}}]")
    assert kept_variation(other, seed, style) in VARIATIONS[1:]
    done = perform_scene(other, seed, LOOKED_AT_FPS, style)
    assert not missed(done, other, seed, style)
    assert kept_variation(other, 0, None) == ALL_VARIATION
    tuned = solved_scene(score, 0, LOOKED_AT_FPS, None)[0]
    last = [solved_scene(score, own, LOOKED_AT_FPS, style, KeptVariation(0.0))[0]
            for own in (seed, seed + 1)]
    assert [highest(one) for one in last] == pytest.approx([highest(tuned)] * 2, abs=0.01)
    assert len({one.frames for one in (tuned, *last)}) == 3
    faster = perform_scene(other, seed, 2 * LOOKED_AT_FPS, style)
    assert highest(faster[0]) == pytest.approx(highest(done[0]), abs=0.005)


@pytest.mark.slow
def test_a_take_that_its_small_movements_spoil_borrows_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score, seed = waving(tmp_path, seen="checks: []"), 3
    spoilt = Finding("reach", "Right hand", 1.0, 3.0, 2.5, "cm")
    asked: list[KeptVariation] = []

    def only_borrowed_are_clean(
        motions: object, score: Score, seed: int, style: str | None,
        variation: KeptVariation
    ) -> list[Finding]:
        asked.append(variation)
        return [] if variation == BORROWED_VARIATIONS[1] else [spoilt]

    monkeypatch.setattr("mimegen.choreography.perform.flaws", only_borrowed_are_clean)
    done = perform_scene(score, seed, LOOKED_AT_FPS)[0]
    assert asked == [*VARIATIONS, *BORROWED_VARIATIONS[:2]]
    assert kept_variation(score, seed, None) == BORROWED_VARIATIONS[1]
    own, written = (solved_scene(score, seed, LOOKED_AT_FPS, None, KeptVariation(share))[0]
                    for share in (1.0, 0.0))
    assert done.frames == own.frames == written.frames
    assert highest(done) == pytest.approx(highest(written), abs=0.03)
    assert abs(done.rotations - written.rotations).max() > 0.01


@pytest.mark.slow
def test_a_varied_take_keeps_what_must_be_seen_with_something_to_spare(tmp_path: Path) -> None:
    score, seed, style = waving(tmp_path, seen="checks: []"), 3, "exaggerated"
    own = 1 / centimetre(standard_skeleton())
    whole, written = (own * highest(perform_scene(score, number, LOOKED_AT_FPS, how)[0])
                      for number, how in ((seed, style), (0, None)))
    limit = whole + 0.3
    close = waving(tmp_path, seen="checks: [{about: not so high, when: all, most: "
                                  f"{limit:.3f}, height: [right_wrist, floor]}}]")
    assert limit - written > 2.0
    assert kept_variation(close, seed, style) != ALL_VARIATION
    [seen] = check_results(perform_scene(close, seed, LOOKED_AT_FPS, style), close, seed, style)
    assert seen.spare >= min(MARGIN, OF_WRITTEN * (limit - written)) - 0.05
    [seen] = check_results(perform_scene(close, 0, LOOKED_AT_FPS), close)
    assert seen.spare == pytest.approx(limit - written, abs=0.05)
