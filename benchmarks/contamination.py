"""False alarms, power and coverage of ``mimegen contamination``, by simulation.

    python benchmarks/contamination.py [--runs 4000] [--write]

Actions and variants have effects of their own (normal, in logits). ``--write`` renews the table in
docs/explanation/statistics.md. Some seven minutes on one core.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.special import expit, logit

from mimegen.evaluation.contamination.answers import (
    Answers,
    Falls,
    Ints,
    estimate,
    falls_of,
    pairs_of,
)
from mimegen.evaluation.contamination.power import PowerDesign, pairs_needed, power_of
from mimegen.evaluation.statistics import cluster_bootstrap, clustered_share

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "statistics.md"
START, END = "<!-- simulation -->\n", "<!-- end of simulation -->"
# Of BCa and of McNemar's test, which decide nothing, so many runs are enough.
BESIDE = 400
# For means over all actions that could be (Gauss and Hermite).
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
HEAD = """| design | false alarms or power | interval covers | within 5 points (TOST) | McNemar \
| BCa covers | accuracy's interval covers |
|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Scenario:
    """What is simulated: answers per cell and arm, effects' standard deviations, the true fall.

    ``fall`` is as a share, of every action alike but for ``fall_sd``. ``uneven`` draws the answers
    per cell from a Poisson distribution. ``promised`` is the power that was promised. With
    ``accuracy_to`` and ``fall_to``, every run draws its truth between them and the others.
    """

    name: str
    actions: int = 30
    variants: int = 10
    seen: int = 1
    unseen: int = 1
    accuracy: float = 0.6
    action_sd: float = 1.0
    variant_sd: float = 0.5
    fall: float = 0.0
    fall_sd: float = 0.0
    uneven: bool = False
    promised: float | None = None
    accuracy_to: float | None = None
    fall_to: float | None = None

    def one(self, rng: np.random.Generator) -> "Scenario":
        """Return the truth of one run."""
        if self.accuracy_to is None or self.fall_to is None:
            return self
        return replace(self, accuracy=rng.uniform(self.accuracy, self.accuracy_to),
                       fall=rng.uniform(self.fall, self.fall_to))


@dataclass(frozen=True)
class Counts:
    """Shares of runs."""

    alarms: float
    covered: float
    equivalent: float
    mcnemar: float
    bootstrap: float
    accuracy: float

    def line(self, scenario: Scenario) -> str:
        """Return a row of the table."""
        promised = "" if scenario.promised is None else f" (promised {scenario.promised:.1%})"
        cells = [scenario.name, f"{self.alarms:.1%}{promised}",
                 *(f"{share:.1%}" for share in (self.covered, self.equivalent, self.mcnemar,
                                                self.bootstrap, self.accuracy))]
        return f"| {' | '.join(cells)} |"


def drawn(scenario: Scenario, rng: np.random.Generator) -> tuple[Answers, float]:
    """Return one simulated model's answers, and its accuracy on seen clips over all actions."""
    cells = scenario.actions * scenario.variants
    action, variant = np.divmod(np.arange(cells), scenario.variants)
    easy = rng.normal(0, scenario.variant_sd, scenario.variants)
    ease = rng.normal(0, scenario.action_sd, scenario.actions)[action] + easy[variant]
    falls = rng.normal(scenario.fall, scenario.fall_sd, scenario.actions)[action]
    right = expit(logit(scenario.accuracy) + ease)
    arms = [_arm(scenario, rng, number, chance) for number, chance in
            ((scenario.seen, right), (scenario.unseen, right - falls))]
    chosen = np.concatenate([cell for cell, _ in arms])
    seen = np.arange(len(chosen)) < len(arms[0][0])
    score = np.concatenate([score for _, score in arms]).astype(float)
    return Answers(score, seen, action[chosen], variant[chosen]), mean_accuracy(scenario, easy)


def _arm(scenario: Scenario, rng: np.random.Generator, number: int, chance: np.ndarray
         ) -> tuple[np.ndarray, np.ndarray]:
    counts = (rng.poisson(number, len(chance)) if scenario.uneven
              else np.full(len(chance), number))
    cell = np.repeat(np.arange(len(chance)), counts)
    return cell, rng.random(len(cell)) < np.clip(chance, 0, 1)[cell]


def mean_accuracy(scenario: Scenario, easy: np.ndarray) -> float:
    """Return the accuracy on seen clips of these variants, over all actions that could be."""
    chance = expit(logit(scenario.accuracy) + easy[:, None] + scenario.action_sd * NODES)
    return float(chance.mean(0) @ WEIGHTS / WEIGHTS.sum())


def simulate(scenario: Scenario, runs: int) -> Counts:
    """Return what shares of the runs gave an alarm, covered the truth, and so on."""
    rng = np.random.default_rng(20260714)
    found = [_run(scenario.one(rng), run, rng) for run in range(runs)]
    return Counts(*(float(np.nanmean(column)) for column in zip(*found, strict=True)))


def _run(scenario: Scenario, run: int, rng: np.random.Generator) -> list[float]:
    answers, accuracy = drawn(scenario, rng)
    falls = falls_of(answers)
    fall = estimate(answers, falls)
    right, asked = answers.arm(True).by_action()
    beside = _beside(answers, falls, scenario.fall, run) if run < BESIDE else (np.nan, np.nan)
    return [fall.p() < 0.05, _covers(fall.interval(), scenario.fall), fall.p_outside(0.05) < 0.05,
            *beside, _covers(clustered_share(right, asked), accuracy)]


def _beside(answers: Answers, falls: Falls, truth: float, run: int) -> tuple[float, float]:
    """Return whether McNemar's test says a fall, and whether BCa covers the truth."""
    pairs = pairs_of(_paired(answers))
    resampled = cluster_bootstrap(falls.fall, falls.weight, 0.95, run) or (0.0, 0.0)
    return pairs is not None and pairs.p < 0.05, _covers(resampled, truth)


def _paired(answers: Answers) -> Answers:
    """Return answers with a variant for each pair: the n-th answers of a cell in either arm."""
    turn = np.zeros(len(answers.score), np.int64)
    cell = answers.action * (int(answers.variant.max()) + 1) + answers.variant
    for arm in (answers.seen, ~answers.seen):
        turn[arm] = _turns(cell[arm])
    return replace(answers, variant=answers.variant * (len(turn) + 1) + turn)


def _turns(cells: Ints) -> Ints:
    """Return how many earlier answers have the same cell as each one, (N,)."""
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    turns = np.empty(len(cells), np.int64)
    for start, end in pairwise([*starts.tolist(), len(cells)]):
        turns[order[start:end]] = np.arange(end - start)
    return turns


def _covers(ends: tuple[float, float], truth: float) -> bool:
    return ends[0] - 1e-12 <= truth <= ends[1] + 1e-12


def promised(fall: float, discordance: float, actions: int | None) -> Scenario:
    """Return a scenario of about as many pairs as ``--power`` asks for, that disagree so often.

    All pairs are alike: of p right when seen and p - fall when unseen p (1 - p + fall) +
    (1 - p)(p - fall) disagree.
    """
    design = PowerDesign(fall, discordance, actions=actions)
    spread = actions or 50
    each = max(1, round(pairs_needed(design) / spread))
    # 2 p^2 - 2 p (1 + fall) + discordance + fall = 0
    root = np.sqrt((1 + fall) ** 2 - 2 * (discordance + fall))
    where = f"over {actions} actions" if actions else "over many actions"
    return Scenario(
        f"{100 * fall:g} points, {discordance:.0%} disagree, {each * spread} pairs {where}",
        spread, each, accuracy=float((1 + fall + root) / 2), action_sd=0, variant_sd=0, fall=fall,
        promised=power_of(design, each * spread))


def scenarios() -> Sequence[Scenario]:
    """Return what the docs' table shows."""
    null = Scenario("no fall, 30 actions x 10 variants")
    few = Scenario("no fall, 10 actions x 10 variants", actions=10)
    flat = replace(few, action_sd=0.0, variant_sd=0.0)
    return [
        null, few,
        replace(few, name="no fall, 10 x 3", variants=3),
        replace(null, name="no fall, arms 3 : 1, 30 x 10, uneven cells", seen=3, uneven=True),
        replace(few, name="no fall, arms 3 : 1, 10 x 10, uneven cells", seen=3, uneven=True),
        replace(few, name="no fall, arms 1 : 5, 10 x 3, uneven cells", variants=3, unseen=5,
                uneven=True),
        replace(few, name="no fall, 93 % right, 10 x 10", accuracy=0.95),
        replace(few, name="all right, 10 x 10", accuracy=1 - 1e-12),
        replace(few, name="all wrong, 10 x 10", accuracy=1e-12),
        replace(flat, name="fall of 6 points from 99 %, 10 x 10", accuracy=0.99, fall=0.06),
        replace(flat, name="truths of 93 to 100 %, falls of 0 to 7 points, 10 x 10", accuracy=0.93,
                accuracy_to=1 - 1e-9, fall_to=0.07),
        replace(flat, name="truths of 90 to 100 %, falls of 0 to 10 points, 10 x 10", accuracy=0.9,
                accuracy_to=1 - 1e-9, fall_to=0.1),
        replace(flat, name="the same, 10 x 3", accuracy=0.9, accuracy_to=1 - 1e-9, fall_to=0.1,
                variants=3),
        replace(flat, name="truths of 0 to 7 %, rises of 0 to 7 points, 10 x 10", accuracy=1e-9,
                accuracy_to=0.07, fall=-0.07, fall_to=0.0),
        replace(flat, name="fall of just the margin, from 100 %, 10 x 10", accuracy=1 - 1e-12,
                fall=0.05),
        replace(flat, name="fall of just the margin, from 99 %, 10 x 10", accuracy=0.99, fall=0.05),
        replace(flat, name="fall of just the margin, from 97 %, 10 x 30", accuracy=0.97,
                variants=30, fall=0.05),
        replace(flat, name="fall of 30 points from 100 %, another in each action (sd 20), 10 x 3",
                accuracy=1 - 1e-12, variants=3, fall=0.3, fall_sd=0.2),
        replace(flat, name="fall of 10 points, 10 x 10", accuracy=0.7, fall=0.1),
        replace(flat, name="fall of 10 points, another in each action (sd 10), 10 x 10",
                accuracy=0.7, fall=0.1, fall_sd=0.1),
        replace(flat, name="no fall on average, another in each action (sd 10), 30 x 10",
                actions=30, accuracy=0.7, fall_sd=0.1),
        promised(0.1, 0.3, None), promised(0.05, 0.3, None), promised(0.15, 0.4, None),
        promised(0.1, 0.3, 10), promised(0.15, 0.4, 10), promised(0.05, 0.2, 10),
    ]


def main() -> None:
    """Print the table, and write it into the docs where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    print(HEAD, end="")
    lines = []
    for scenario in scenarios():
        lines.append(simulate(scenario, chosen.runs).line(scenario))
        print(lines[-1], flush=True)
    if chosen.write:
        page = PAGE.read_text(encoding="utf-8")
        before, rest = page.split(START)
        PAGE.write_text(before + START + HEAD + "\n".join(lines) + "\n" + END
                        + rest.split(END)[1], encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
