"""The mixed logistic model that is reported beside the verdict."""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

from mimegen.base.arrays import FloatArray
from mimegen.evaluation.contamination.answers import Answers, Ints
from mimegen.evaluation.statistics import Interval


@dataclass(frozen=True)
class Mixed:
    """The odds ratio of a right answer, seen to unseen, within actions; ``p`` is Wald's."""

    odds_ratio: float
    interval: Interval
    p: float
    action_sd: float


def mixed_logistic(answers: Answers) -> Mixed | None:
    """Return the mixed logistic model of the answers, with random actions and variants.

    It is statsmodels' BinomialBayesMixedGLM, fitted by variational Bayes. The arm varies within
    actions, so it matters little that this fit underestimates the uncertainty of random effects.
    But the model has no fall that differs between actions, which the verdict's own test allows for.
    Returns None for graded scores, and if an arm is all right or all wrong, because the odds ratio
    is then not finite.
    """
    shares = [answers.arm(seen).score.mean() for seen in (True, False)]
    # If one arm is all right, the likelihood grows without bound with the odds ratio.
    if not np.isin(answers.score, (0, 1)).all() or not all(0 < share < 1 for share in shares):
        return None
    # Imported here because it takes seconds.
    from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

    groups = [_indicators(answers.action), _indicators(answers.variant)]
    kinds = np.repeat([0, 1], [group.shape[1] for group in groups])
    # The arm is centered: variational Bayes treats effects as independent, so correlation with the
    # intercept would make the arm's error too small by the square root of two.
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
    """Return an indicator column for each group, (N, groups)."""
    return np.equal.outer(groups, np.unique(groups)).astype(float)
