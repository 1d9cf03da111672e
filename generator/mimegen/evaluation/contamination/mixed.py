"""The mixed logistic model that stands beside the verdict."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

from mimegen.base.arrays import FloatArray
from mimegen.evaluation.contamination.answers import Answers, Ints
from mimegen.evaluation.statistics import Interval


@dataclass(frozen=True)
class Mixed:
    """The odds of a right answer, seen over unseen, within an action; ``p`` is Wald's."""

    odds_ratio: float
    interval: Interval
    p: float
    action_sd: float


def mixed_logistic(answers: Answers) -> Mixed | None:
    """Return the mixed logistic model of the answers, with random actions and variants.

    It is statsmodels' BinomialBayesMixedGLM, fitted by variational Bayes. Its arm varies within
    actions, so that the model's narrow view of the random effects costs little; but it has no
    fall that differs from action to action, which the verdict's own test allows for. None for
    graded scores and for an arm that is all right or all wrong: no finite odds ratio is there.
    """
    shares = [answers.arm(seen).score.mean() for seen in (True, False)]
    # Where one arm is all right, the likelihood grows without end as the odds ratio does.
    if not np.isin(answers.score, (0, 1)).all() or not all(0 < share < 1 for share in shares):
        return None
    # It takes seconds to import, which no other command should wait for.
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    groups = [_indicators(answers.action), _indicators(answers.variant)]
    kinds = np.repeat([0, 1], [group.shape[1] for group in groups])
    # Centered: variational Bayes takes effects for independent, and would make the arm's error too
    # small by the square root of two if the arm went with the intercept.
    fixed = np.stack([np.ones(len(answers.score)), answers.seen - answers.seen.mean()], 1)
    model = BinomialBayesMixedGLM(answers.score, fixed, np.hstack(groups), kinds, vcp_p=1, fe_p=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model.fit_vb(mean=np.zeros(2 + 2 + len(kinds)),
                             sd=np.full(2 + 2 + len(kinds), 0.3))
    effect, error = float(found.fe_mean[1]), float(found.fe_sd[1])
    low, high = np.exp(effect + np.array([-1, 1]) * stats.norm.ppf(0.975) * error)
    return Mixed(float(np.exp(effect)), (float(low), float(high)),
                 float(2 * stats.norm.sf(abs(effect / error))), float(np.exp(found.vcp_mean[0])))


def _indicators(groups: Ints) -> FloatArray:
    """Return a column for each group (N, groups), 1 where an answer is of it."""
    return np.equal.outer(groups, np.unique(groups)).astype(float)
