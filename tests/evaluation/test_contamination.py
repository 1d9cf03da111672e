"""The verdict on seen and unseen clips: its numbers, its words, what it refuses."""

import json
import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from PIL import Image
from scipy import stats
from scipy.special import expit
from statsmodels.discrete.discrete_model import Logit
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from examples import examples
from made_row import CLIP
from mimegen.base.errors import RequestError
from mimegen.cli import main
from mimegen.evaluation.contamination import plots
from mimegen.evaluation.contamination.answers import (
    Answers,
    Discordance,
    discordance_of,
    pairs_of,
)
from mimegen.evaluation.contamination.balance import _listed
from mimegen.evaluation.contamination.mixed import mixed_logistic
from mimegen.evaluation.contamination.pilot import Pilot
from mimegen.evaluation.contamination.power import (
    PowerDesign,
    pairs_needed,
    power_of,
    smallest_fall,
)
from mimegen.evaluation.statistics import (
    Estimate,
    McNemar,
    cluster_bootstrap,
    clustered_share,
    holm,
    more_degrees,
    weighted_mean,
    wilson,
)

shares = st.floats(0.0, 1.0).map(lambda share: round(share, 6))


def answers_of(rows: Iterable[tuple[float, bool, int, int]]) -> Answers:
    score, seen, action, variant = zip(*rows, strict=True)
    return Answers(np.array(score, float), np.array(seen, bool), np.array(action),
                   np.array(variant))


def a_row(number: int, correct: Any, **changes: Any) -> dict[str, Any]:
    action, variant = divmod(number, 4)
    return {"sample_id": f"c{number}", "action": f"a{action:02}", "variant": f"v{variant}",
            "model": "m", "correct": correct} | changes


def written(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def an_arm(name: str, chance: float, model: str = "m", actions: int = 12, spread: float = 0.1
           ) -> list[dict[str, Any]]:
    rng = np.random.default_rng([len(name), round(100 * chance), len(model)])
    return [a_row(number, int(rng.random() < chance + spread * np.sin(number // 4)),
                  sample_id=f"{name}{number}", model=model) for number in range(4 * actions)]


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run the command on arms of rows, or on arguments alone."""

    def command(*arguments: object, **arms: list[dict[str, Any]]) -> Result:
        files = [written(tmp_path / f"{name}.jsonl", rows) for name, rows in arms.items()]
        return CliRunner().invoke(main, ["contamination", *map(str, [*files, *arguments])])

    return command


def test_controls_are_left_out_and_people_are_several(run: Run) -> None:
    seen = an_arm("seen", 1.0, spread=0)
    seen += [row | {"question_id": f"{row['sample_id']}-text", "control": "no video", "correct": 0}
             for row in seen]
    unseen = [row | {"rater": rater} for row in an_arm("unseen", 1.0, spread=0) for rater in "ab"]
    found = run("--json", seen=seen, unseen=unseen)
    assert found.exit_code == 0, found.output
    [model] = json.loads(found.output)["models"]
    assert {name: (arm["n"], arm["value"]) for name, arm in model["accuracy"].items()} == {
        "seen": (48, 1), "unseen": (96, 1)}


@pytest.mark.parametrize(("points", "discordance", "pairs"), [
    (5, 0.2, 626), (5, 0.3, 940), (5, 0.4, 1253), (10, 0.2, 155), (10, 0.3, 233), (10, 0.4, 312),
    (15, 0.2, 67), (15, 0.3, 102), (15, 0.4, 137)])
def test_power_is_connors(run: Run, points: int, discordance: float, pairs: int) -> None:
    result = run("--power", points, "--discordance", discordance, "--json")
    assert [design["pairs"] for design in json.loads(result.output)["designs"]] == [pairs]
    design = PowerDesign(points / 100, discordance)
    assert power_of(design, pairs) == pytest.approx(0.8, abs=0.003)
    assert smallest_fall(design, pairs) == pytest.approx(points / 100, rel=0.005)


def test_few_actions_need_more_pairs() -> None:
    few, many = PowerDesign(0.1, 0.3, actions=10), PowerDesign(0.1, 0.3, actions=1000)
    assert pairs_needed(few) > pairs_needed(PowerDesign(0.1, 0.3))
    assert power_of(few, pairs_needed(few)) >= 0.8 > power_of(few, pairs_needed(few) - 20)
    assert power_of(many, 233) == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("arguments", "said"), [
    (["--power", "30", "--discordance", "0.2"], "only discordant pairs make a fall"),
    (["--power", "0.05"], "0.5<=x<=100"),
    (["a", "b", "--power", "5"], "with --pilot SEEN UNSEEN"),
    (["--power", "5", "--discordance", "0"], "0<x<=1"),
    (["--discordance", "0.2"], "expected two files"),
    (["--power", "5", "--discordance", "0.2", "--pilot", "a", "b"], "are mutually exclusive")])
def test_a_wrong_plan_is_refused(run: Run, arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and said in result.output


def test_a_pilot_tells_discordance_and_what_it_can_see(run: Run, tmp_path: Path) -> None:
    pilot = [written(tmp_path / f"{name}.jsonl", an_arm(name, chance))
             for name, chance in (("seen", 0.7), ("unseen", 0.6))]
    found = json.loads(run("--power", 10, "--pilot", *pilot, "--json").output)
    disagree = found["pilot"]["discordance"]
    assert found["pilot"]["pairs"] == 48 and 0.3 < disagree < 0.7
    assert found["designs"][0]["pairs"] == pairs_needed(PowerDesign(0.1, disagree))
    assert found["pilot"]["smallest_fall"] == pytest.approx(
        100 * (smallest_fall(PowerDesign(0.1, disagree), 48) or 0))
    assert 5 < found["pilot"]["smallest_fall_clustered"] < 60


@settings(deadline=None)
@given(st.lists(shares, min_size=2, max_size=30))
def test_with_equal_weights_it_is_the_t_test_over_clusters(values: list[float]) -> None:
    found = weighted_mean(np.array(values), np.full(len(values), 3.0))
    assert found.df == pytest.approx(len(values) - 1)
    if np.std(values) > 1e-6:
        oracle = stats.ttest_1samp(values, 0)
        assert found.p() == pytest.approx(oracle.pvalue, abs=1e-9)
        low, high = oracle.confidence_interval(0.95)
        assert found.interval() == pytest.approx((max(low, -1), min(high, 1)))
        margin = max(stats.ttest_1samp(values, -0.7, alternative="greater").pvalue,
                     stats.ttest_1samp(values, 0.7, alternative="less").pvalue)
        assert found.p_outside(0.7) == pytest.approx(margin, abs=1e-9)


def test_equivalence_is_the_90_percent_interval_within_the_margin() -> None:
    for value in np.linspace(-0.08, 0.08, 33):
        found = Estimate(float(value), 0.012, 9.0)
        low, high = found.interval(0.9)
        assert (found.p_outside(0.05) < 0.05) == (low > -0.05 and high < 0.05)


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60))
def test_pairs_are_statsmodels_exact_mcnemar(first: int, second: int) -> None:
    found = McNemar(200, first, second)
    oracle = mcnemar([[40, first], [second, 40]], exact=True)
    assert found.p == pytest.approx(oracle.pvalue)
    interval = found.odds_interval()
    if interval and found.odds_ratio is not None:
        assert interval[0] <= found.odds_ratio <= interval[1]
        assert (found.p < 0.04) <= (not interval[0] <= 1 <= interval[1])


# statsmodels collects garbage at each call.
@settings(deadline=None, max_examples=examples(25))
@given(st.lists(shares, min_size=1, max_size=12))
def test_holm_is_statsmodels(ps: list[float]) -> None:
    assert holm(ps) == pytest.approx(multipletests(ps, method="holm")[1])


@settings(deadline=None)
@given(st.integers(0, 50), st.integers(1, 50))
def test_wilson_is_statsmodels(right: int, more: int) -> None:
    asked = right + more
    assert wilson(right / asked, asked) == pytest.approx(
        proportion_confint(right, asked, method="wilson"), abs=1e-9)


def test_clusters_that_go_together_make_intervals_wide() -> None:
    asked = np.full(20, 10.0)
    together = clustered_share(np.repeat([10.0, 0.0], 10), asked)
    alike = clustered_share(np.full(20, 5.0), asked)
    assert together[1] - together[0] > 2.5 * (alike[1] - alike[0])
    assert clustered_share(asked, asked) == pytest.approx(wilson(1.0, 200))


def test_a_share_of_clusters_has_the_intervals_of_statsmodels() -> None:
    """Between Wilson's, of as many answers as tell as much, and an intercept in logits with errors
    robust to clusters, t for both; 60 of 100 are right. Clusters that spread less give Wilson's.
    """
    for right, logits in (([2, 9, 4, 10, 3, 9, 5, 2, 10, 6], True),
                          ([6, 6, 5, 7, 6, 6, 7, 5, 6, 6], False)):
        score = np.concatenate([np.arange(10) < own for own in right]).astype(float)
        fitted = Logit(score, np.ones(100)).fit(
            disp=0, cov_type="cluster", cov_kwds={"groups": np.repeat(np.arange(10), 10)})
        reach = stats.t.ppf(0.975, 9 * 40 / 39)
        design = (fitted.bse[0] * 0.24) ** 2 / (0.24 / 100)
        assert (design > 1) == logits
        ends = np.array(proportion_confint(60 / design, 100 / design, method="wilson",
                                           alpha=2 * stats.norm.sf(reach)))
        if logits:
            other = expit(fitted.params[0] + reach * fitted.bse[0] * np.array([-1, 1]))
            ends = ends / design + other * (1 - 1 / design)
        found = clustered_share(np.array(right, float), np.full(10, 10.0))
        assert found == pytest.approx(ends, rel=2e-3)


def test_accuracies_near_certainty_have_no_interval_wider_than_it_need_be() -> None:
    """One wrong answer of 100, over ten clusters: the logit interval reached 7.6 points down."""
    right = np.array([10.0] * 9 + [9.0])
    low, high = clustered_share(right, np.full(10, 10.0))
    assert 0.94 < low < 0.95 and 0.995 < high < 1


def test_only_single_answers_to_an_action_in_a_variant_are_pairs() -> None:
    several = [(1.0, True, 0, 0), (0.0, True, 0, 0), (0.0, False, 0, 0), (1.0, False, 0, 0),
               (1.0, True, 3, 0), (0.0, False, 3, 0), (0.0, False, 3, 0)]
    single = [(0.0, True, 1, 0), (1.0, False, 1, 0), (1.0, True, 1, 1), (1.0, False, 1, 1),
              (1.0, False, 2, 0), (1.0, True, 2, 1)]
    assert pairs_of(answers_of([*several, *single])) == McNemar(2, 0, 1)
    assert pairs_of(answers_of(several)) is None
    assert pairs_of(answers_of([(0.5, True, 0, 0), (1.0, False, 0, 0)])) is None
    assert discordance_of(answers_of([(0.5, True, 0, 0), (1.0, False, 0, 0)])) is None
    # Single answers disagree in one of two pairs; the cells of several in 1/2 of 2 and in all of 1.
    assert discordance_of(answers_of(single)) == Discordance(2, 0.5)
    assert discordance_of(answers_of([*several, *single])) == Discordance(5, 0.6)


def test_names_of_clips_do_not_make_pairs(run: Run, tmp_path: Path) -> None:
    """Four different clips of every action in one variant: no seen clip has a counterpart."""
    arms = {name: [row | {"variant": "v"} for row in an_arm(name, chance)]
            for name, chance in (("seen", 0.8), ("unseen", 0.7))}
    other = [row | {"sample_id": f"unseen{4 * (number // 4) + 3 - number % 4}"}
             for number, row in enumerate(arms["unseen"])]
    found = [json.loads(run("--json", seen=arms["seen"], unseen=rows).stdout)
             for rows in (arms["unseen"], other)]
    [model], [renamed] = (one["models"] for one in found)
    assert model["mcnemar"] is renamed["mcnemar"] is None and "McNemar" not in model["words"]
    assert model["words"] == renamed["words"]
    pilots = [json.loads(run("--power", 10, "--json", "--pilot", written(
        tmp_path / "seen.jsonl", arms["seen"]), written(tmp_path / "unseen.jsonl", rows)).stdout)
        for rows in (arms["unseen"], other)]
    assert pilots[0] == pilots[1] and pilots[0]["pilot"]["pairs"] == 48


def test_what_is_known_of_the_other_arm_alone_is_told_by_z(run: Run) -> None:
    """Seen all right, unseen nearly: one wrong answer tells no spread, and JSON has no infinity."""
    seen, unseen = an_arm("seen", 2.0), an_arm("unseen", 2.0)
    unseen[0]["correct"] = 0
    [found] = json.loads(run("--json", seen=seen, unseen=unseen).output)["models"]
    assert found["difference"]["df"] is None
    assert found["actions"] == len({row["action"] for row in seen + unseen})
    assert "score z = " in found["words"] and "cluster-robust" not in found["words"]


def test_the_plot_of_accuracy_shows_both_arms_and_names_each_once(
        run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Figure] = []

    def kept(figure: Figure) -> bytes:
        figures.append(figure)
        return b""

    monkeypatch.setattr(plots, "png", kept)
    arms = {"seen": an_arm("seen", 2.0), "unseen": an_arm("unseen", 0.5)}
    (found,) = json.loads(run("--json", "--report", tmp_path / "r", **arms).stdout)["models"]
    (axes,), (legend,) = figures[0].axes, figures[0].legends
    assert [text.get_text() for text in legend.get_texts()] == ["seen", "unseen"]
    assert [text.get_text() for text in axes.get_yticklabels()] == [found["model"]]
    points = {line.get_label(): np.asarray(line.get_xdata())[0] / 100 for line in axes.lines[1::2]}
    bars = [[x / 100 for x in np.asarray(line.get_xdata())] for line in axes.lines[::2]]
    for number, arm in enumerate(("seen", "unseen")):
        assert points[arm] == pytest.approx(found["accuracy"][arm]["value"])
        assert bars[number] == pytest.approx(found["accuracy"][arm]["interval"])


def test_the_bootstrap_says_the_same_each_time_and_nearly_what_t_says() -> None:
    rng = np.random.default_rng(5)
    values, weights = rng.normal(0.1, 0.1, 60), rng.uniform(1, 2, 60)
    found = cluster_bootstrap(values, weights, 0.95, "m")
    assert found == cluster_bootstrap(values, weights, 0.95, "m")
    assert found == pytest.approx(weighted_mean(values, weights).interval(), abs=0.006)


def test_the_bootstrap_of_few_clusters_is_as_wide_as_t() -> None:
    """Resampled means spread by sqrt(9 / 10) of the error, and percentiles reach as far as z."""
    values = stats.norm.ppf((np.arange(10) + 0.5) / 10)
    low, high = cluster_bootstrap(values, np.ones(10), 0.95, "m") or (0.0, 0.0)
    below, above = weighted_mean(values, np.ones(10)).interval()
    assert high - low == pytest.approx(above - below, rel=0.04)


def test_the_mixed_model_finds_the_odds_ratio_with_an_honest_error() -> None:
    """Uncentered, variational Bayes gives an error too small by the square root of two."""
    rng = np.random.default_rng(2)
    action = np.tile(np.arange(20), 40)
    seen = np.arange(800) < 400
    chance = 1 / (1 + np.exp(-(rng.normal(0, 1, 20)[action] + 1.0 * seen - 0.3)))
    answers = Answers((rng.random(800) < chance).astype(float), seen, action,
                      np.zeros(800, np.int64))
    found = mixed_logistic(answers)
    assert found is not None and found.interval[0] < np.e < found.interval[1]
    assert np.log(found.interval[1] / found.interval[0]) / 3.92 == pytest.approx(0.165, abs=0.02)


def test_a_model_that_remembers_and_one_that_does_not(run: Run, tmp_path: Path) -> None:
    arms = {name: [*an_arm(name, remembered, "remembers", 40), *an_arm(name, 1.0, "knows", 40, 0.0)]
            for name, remembered in (("seen", 0.9), ("unseen", 0.5))}
    found = json.loads(run("--json", **arms).output)
    knows, remembers = found["models"]
    assert (knows["model"], knows["verdict"]) == ("knows", "no fall")
    assert (remembers["model"], remembers["verdict"]) == ("remembers", "fall")
    assert remembers["difference"]["interval"][0] > 0.2 and remembers["p_holm"] < 1e-6
    assert remembers["mcnemar"]["p"] < 1e-6 and remembers["mixed_logistic"]["odds_ratio"] > 3
    assert knows["equivalence"]["equivalent"] and not remembers["equivalence"]["equivalent"]
    assert [variant["variant"] for variant in remembers["variants"]] == ["v0", "v1", "v2", "v3"]
    for words in ("n = 160 and 160, 40 actions", "95 % CI", "cluster-robust score t(", "p < 0.001",
                  "Holm's correction for 2 models", "exact McNemar", "remembered"):
        assert words in remembers["words"]


def test_few_answers_decide_nothing(run: Run) -> None:
    found = json.loads(run("--json", seen=an_arm("seen", 0.6, actions=8),
                           unseen=an_arm("unseen", 0.55, actions=8)).output)
    assert found["models"][0]["verdict"] == "undecided"
    assert "more pairs are needed" in found["models"][0]["words"]


def test_graded_scores_have_no_mcnemar_and_no_logistic(run: Run) -> None:
    rng = np.random.default_rng(4)
    arms = {name: [a_row(number, round(float(rng.beta(4, 2)) * scale, 3),
                         sample_id=f"{name}{number}") for number in range(80)]
            for name, scale in (("seen", 1.0), ("unseen", 0.5))}
    (model,) = json.loads(run("--json", **arms).stdout)["models"]
    assert model["mcnemar"] is None and model["mixed_logistic"] is None
    assert model["verdict"] == "fall" and 0.2 < model["difference"]["value"] < 0.45


def test_a_placebo_that_falls_is_said(run: Run, tmp_path: Path) -> None:
    hard = written(tmp_path / "hard.jsonl", an_arm("hard", 0.2))
    result = run("--placebo", hard, "--json", seen=an_arm("seen", 0.9),
                 unseen=an_arm("unseen", 0.8))
    found = json.loads(result.stdout)
    assert found["models"][0]["placebo"]["difference"]["value"] > 0.4
    assert any("placebo" in warning for warning in found["warnings"])


def test_a_placebo_that_was_not_compared_is_said(run: Run, tmp_path: Path) -> None:
    arms = {name: an_arm(name, 0.8) for name in ("seen", "unseen")}
    for rows, words in ((an_arm("fresh", 0.8, "M"), "it has M"),
                        (an_arm("fresh", 0.8)[:4], "fewer than two actions")):
        result = run("--placebo", written(tmp_path / "fresh.jsonl", rows), "--json", **arms)
        report = json.loads(result.stdout)
        assert report["models"][0]["placebo"] is None
        assert any("m: not compared with the placebo" in line and words in line
                   for line in report["warnings"])


@pytest.mark.parametrize("other", ["seen", "unseen"])
def test_a_placebo_of_clips_of_another_arm_is_refused(run: Run, tmp_path: Path, other: str) -> None:
    arms = {name: an_arm(name, 0.8) for name in ("seen", "unseen")}
    same = written(tmp_path / "same.jsonl", arms[other])
    refused = run("--placebo", same, **arms)
    assert refused.exit_code == 2 and f"are also in {tmp_path / other}.jsonl" in refused.output
    some = written(tmp_path / "some.jsonl", [*arms[other][:4], *an_arm("fresh", 0.8)[4:]])
    assert f"4 of 48 placebo clips are in the {other} arm" in run("--placebo", some, **arms).stderr


@pytest.mark.slow
def test_the_page_stands_alone_and_escapes_names(run: Run, tmp_path: Path) -> None:
    arms = {name: an_arm(name, 0.7, "<script>$x^") for name in ("seen", "unseen")}
    result = run("--report", tmp_path / "report", **arms)
    assert result.exit_code == 0, result.output
    page = (tmp_path / "report" / "index.html").read_text()
    assert "<script>" not in page and "&lt;script&gt;$x^" in page
    assert page.count("data:image/png;base64,") == 3 and "http" not in page
    assert json.loads((tmp_path / "report" / "report.json").read_text())["models"]
    for name in ("accuracy", "fall", "variants"):
        picture = np.asarray(Image.open(tmp_path / "report" / f"{name}.png").convert("RGB"), int)
        assert ((picture - (179, 57, 31)) ** 2).sum(-1).min() == 0, name


@pytest.mark.parametrize(("changes", "said"), [
    ({"correct": 2}, "line 3: correct is 2; expected 0, 1"),
    ({"correct": -0.1}, "line 3: correct is -0.1"),
    ({"correct": "yes"}, "line 3: correct is 'yes'"),
    ({"correct": None}, "line 3: correct is None"),
    ({"correct": float("nan")}, "line 3: correct is nan"),
    ({"model": ""}, "line 3: model"),
    ({"sample_id": "c1"}, "line 3: duplicate answer of m to c1, first in line 2"),
    ({"action": None}, "line 3: action is missing"),
    ({"variant": None}, "--manifest")])
def test_a_wrong_row_is_named(run: Run, changes: dict[str, Any], said: str) -> None:
    rows = [a_row(number, 1) for number in range(8)]
    rows[2] |= changes
    result = run(seen=rows, unseen=[a_row(number, 0) for number in range(8)])
    assert result.exit_code == 2 and said in result.output and result.output.count("\n") == 1


@pytest.mark.parametrize("line", ["{", "[1]", "3", '{"model": "m"}', "[" * 100_000])
def test_what_is_no_row_is_named(run: Run, tmp_path: Path, line: str) -> None:
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps(a_row(0, 1)) + f"\n{line}\n")
    result = CliRunner().invoke(main, ["contamination", str(broken), str(broken)])
    assert result.exit_code == 2 and f"{broken}: line 2" in result.output


def test_arms_that_share_too_little_are_refused(run: Run) -> None:
    rows = [a_row(number, number % 2) for number in range(8)]
    fresh = [row | {"sample_id": f"u{place}"} for place, row in enumerate(rows)]
    other = run(seen=rows, unseen=[row | {"model": "n"} for row in fresh])
    assert other.exit_code == 2 and "they share no model" in other.output
    apart = run(seen=rows, unseen=[row | {"action": "z" + row["action"]} for row in fresh])
    assert apart.exit_code == 2 and "0 of 4 actions in both arms" in apart.output
    one = run(seen=rows[:4], unseen=[row | {"sample_id": f"u{place}"}
                                     for place, row in enumerate(rows[:4])])
    assert one.exit_code == 2 and "1 of 1 actions" in one.output


def test_what_is_doubtful_is_warned_of(run: Run) -> None:
    seen, unseen = an_arm("s", 0.7, actions=4), an_arm("u", 0.7, actions=4)
    seen += [a_row(40, 1, sample_id="s-more"), a_row(0, 1, model="alone", sample_id="s0")]
    unseen[0]["sample_id"] = "s0"
    warnings = " ".join(json.loads(run("--json", seen=seen, unseen=unseen).output)["warnings"])
    for said in ("model alone occurs only in seen clips", "4 actions in both arms",
                 "1 of 33 answers have no partner",
                 "1 of 16 unseen clips are in the seen arm too (first s0)",
                 "actions in seen clips alone: a10"):
        assert said in warnings


def test_clips_that_are_seen_are_not_unseen(run: Run, tmp_path: Path) -> None:
    """All of them by name, and all of them by content under other names."""
    rows = an_arm("x", 0.5)
    result = run(seen=rows, unseen=rows[:30])
    assert result.exit_code == 2 and "all of its clips (30)" in result.output
    assert result.output.count("\n") == 1
    folders = [manifest(tmp_path / name, [row | {"sample_id": f"{name}{place}", "clip": {
        "sha256": f"{place:064}"}} for place, row in enumerate(rows)]) for name in "ab"]
    named = [[row | {"sample_id": f"{name}{place}"} for place, row in enumerate(rows)]
             for name in "ab"]
    result = run("--manifest", folders[0], "--manifest", folders[1], seen=named[0],
                 unseen=named[1])
    assert result.exit_code == 2 and "all of its clips (48)" in result.output


def manifest(folder: Path, clips: Iterable[dict[str, Any]]) -> Path:
    folder.mkdir()
    written(folder / "manifest.jsonl", [
        CLIP | {"row_version": 2, "sample_id": clip["sample_id"], "action": clip["action"],
                "sha256": sha256(clip["sample_id"].encode()).hexdigest(),
                "config_name": clip["variant"]} | changes
        for clip in clips for changes in [clip.get("clip", {})]])
    return folder


def camera(elevation: float) -> dict[str, Any]:
    """Return a camera that looks down by so many degrees."""
    half = np.radians(90 - elevation) / 2
    return CLIP["camera"] | {"rotation": [float(np.cos(half)), float(np.sin(half)), 0.0, 0.0]}


def test_sampled_clips_are_compared_with_plain_ones_in_all_that_was_sampled(
        run: Run, tmp_path: Path) -> None:
    """Each sampled clip has a person of its own, and plain clips have no permutation."""
    rng = np.random.default_rng(1)
    seen, unseen = an_arm("seen", 0.7), an_arm("unseen", 0.7)
    sampled = [row | {"clip": {
        "avatar": f"random_{place}", "tempo": 1.1 + place % 3 / 100, "mirrored": place % 2 == 0,
        "light": {"sun_strength": 4.0 + place % 3, "sun_from_deg": [float(place), 60.0]},
        "camera": camera(15.0 + place % 3) | {"lens_mm": float(rng.integers(60, 100))},
        "permutation": {"character": f"random:{place}", "background": f"set{place}"}}}
        for place, row in enumerate(unseen)]
    plain = [row | {"clip": {"camera": camera(9.0), "light": {
        "sun_strength": 5.0, "sun_from_deg": [15.0, 52.0]}}} for row in seen]
    folder = manifest(tmp_path / "out", [*plain, *sampled])
    found = json.loads(run("--json", "--manifest", folder, seen=seen, unseen=unseen).stdout)
    differs = {factor["factor"] for factor in found["balance"] if not factor["balanced"]}
    assert differs == {"avatar", "tempo", "mirror", "elevation", "lens", "light_azimuth",
                       "light_elevation"}


def test_arms_without_a_manifest_are_not_called_balanced(run: Run, tmp_path: Path) -> None:
    seen, unseen = an_arm("seen", 0.8), an_arm("unseen", 0.8)
    said = "the manifest of {} clips is missing (--manifest DIR)"
    assert said.format("seen and unseen") in run(seen=seen, unseen=unseen).output
    folder = manifest(tmp_path / "out", [*seen, *unseen])
    assert "is missing" not in run("--manifest", folder, seen=seen, unseen=unseen).output


def test_arms_that_were_asked_otherwise_are_warned_of(run: Run) -> None:
    seen = [row | {"format": "mc", "prompting": "zero-shot", "wrong": ["x", "y"]}
            for row in an_arm("seen", 0.7)]
    unseen = [row | {"format": "3afc", "prompting": "zero-shot", "wrong": ["x", "z"]}
              for row in an_arm("unseen", 0.7)]
    found = json.loads(run("--json", seen=seen, unseen=unseen).stdout)
    assert ("the arms differ in format: mc 100 % in seen clips, 3afc 100 % in unseen ones"
            in found["warnings"])
    assert {factor["factor"]: factor["balanced"] for factor in found["balance"]} == {
        "format": False, "prompting": True, "wrong answers": False}


@pytest.mark.slow
def test_manifests_tell_actions_variants_and_balance(run: Run, tmp_path: Path) -> None:
    """What an action shows that is in one arm only counts for nothing."""
    alone = [a_row(0, 1, sample_id=f"alone{number}", action="alone") for number in range(8)]
    seen, unseen = an_arm("seen", 0.7), an_arm("unseen", 0.7)
    dark = [row | {"clip": {"avatar": "woman", "camera": camera(20.0 + place % 3)}}
            for place, row in enumerate(unseen)]
    bright = [row | {"clip": {"camera": camera(5.0 + place % 3)}}
              for place, row in enumerate(seen)]
    seen += alone
    high = [row | {"clip": {"camera": camera(80.0)}} for row in alone]
    folder = manifest(tmp_path / "out", [*bright, *dark, *high])
    bare = [[{key: row[key] for key in ("sample_id", "model", "correct")} for row in arm]
            for arm in (seen, unseen)]
    found = json.loads(run("--json", "--manifest", folder, "--report", tmp_path / "report",
                           seen=bare[0], unseen=bare[1]).stdout)
    assert re.search(r"Factor.*Seen.*Unseen.*Difference", (tmp_path / "report" / "index.html"
                                                           ).read_text())
    plain = json.loads(run("--json", seen=seen, unseen=unseen).stdout)
    assert found["models"] == plain["models"]
    factors = {factor["factor"]: factor for factor in found["balance"]}
    assert not factors["avatar"]["balanced"] and factors["camera side"]["balanced"]
    assert factors["elevation"]["difference"] < -10 and not factors["elevation"]["balanced"]
    assert any("differ in elevation: 6 in seen clips, 21 in unseen" in warning
               for warning in found["warnings"])


def test_rows_and_manifests_agree_or_are_refused(run: Run, tmp_path: Path) -> None:
    rows = an_arm("x", 0.5)
    folder = manifest(tmp_path / "out", rows)
    foreign = [*rows[:-1], rows[-1] | {"sample_id": "other"}]
    result = run("--manifest", folder, seen=rows, unseen=foreign)
    assert result.exit_code == 2 and "line 48: no manifest has a row for other" in result.output
    wrong = [*rows[:-1], rows[-1] | {"action": "other"}]
    result = run("--manifest", folder, seen=rows, unseen=wrong)
    assert result.exit_code == 2 and "the manifest says 'a11'" in result.output
    result = run("--manifest", tmp_path, seen=rows, unseen=rows)
    assert result.exit_code == 2 and "expected a manifest.jsonl" in result.output


def test_models_can_be_grouped(run: Run) -> None:
    arms = {name: [row | {"family": "f"} for model in ("a", "b")
                   for row in an_arm(name, 0.6, model)] for name in ("seen", "unseen")}
    (group,) = json.loads(run("--json", "--by", "family", **arms).output)["models"]
    assert group["model"] == "f" and group["n"] == {"seen": 96, "unseen": 96}
    refused = run("--by", "lab", **arms)
    assert refused.exit_code == 2 and "no 'lab'" in refused.output


def test_no_such_number_of_pairs() -> None:
    with pytest.raises(RequestError, match=r"discordance 0\.05"):
        pairs_needed(PowerDesign(0.1, 0.05))


@pytest.mark.parametrize(("rare", "times"), [(0, np.inf), (1, np.inf), (2, 2.0), (3, 1.5),
                                             (11, 1.1)])
def test_few_rare_answers_make_more_degrees_of_freedom(rare: int, times: float) -> None:
    assert more_degrees(rare) == pytest.approx(times)


def test_two_rare_answers_are_told_from_one() -> None:
    """With one, clusters' spread is taken for known; with two, t has twice the degrees."""
    asked = np.full(10, 10.0)
    one, two = np.eye(10)[0], np.eye(10)[0] + np.eye(10)[1]
    for right, df in ((one, np.inf), (two, 2 * weighted_mean(two / asked, asked).df)):
        low, high = clustered_share(right, asked)
        found, share = weighted_mean(right / asked, asked), right.sum() / 100
        reach, design = stats.t.ppf(0.975, df), found.se**2 * 100 / (share * (1 - share))
        ends = wilson(share, 100 / design, reach)
        assert (low, high) == pytest.approx(ends, rel=0.05) and design < 1.2


def test_the_most_common_levels_of_a_factor_are_shown_first() -> None:
    assert _listed({"a": 0.2, "f": 0.04, "d": 0.1, "b": 0.5, "c": 0.1, "e": 0.06}) == (
        "b 50 %, a 20 %, c 10 %, d 10 %, 2 more")
    assert _listed({"b": 0.5, "a": 0.5}) == "a 50 %, b 50 %"


@pytest.mark.parametrize(("actions", "status"), [(1, 2), (2, 0), (3, 0)])
def test_two_actions_in_both_arms_are_enough(run: Run, actions: int, status: int) -> None:
    seen, unseen = an_arm("seen", 0.7), an_arm("unseen", 0.5)
    kept = sorted({row["action"] for row in seen})[:actions]
    result = run("--json", seen=[row for row in seen if row["action"] in kept], unseen=unseen)
    assert result.exit_code == status
    assert status == 0 or f"{actions} of" in result.output


def test_a_pilot_sees_less_where_it_has_few_actions() -> None:
    pilot = Pilot(200, 0.3, 0.1)
    few, some, any_ = (pilot.smallest(actions) for actions in (4, 12, None))
    assert few is not None and some is not None and any_ is not None and few > some > any_
