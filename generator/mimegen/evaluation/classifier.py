"""A classifier that chooses among options by their features, trained on other clusters."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp

from mimegen.base.arrays import FloatArray
from mimegen.base.seeds import generator

# Number of folds, and strength of the ridge penalty on standardised features.
FOLDS = 5
RIDGE = 1.0


def cross_validated(features: Sequence[FloatArray], right: Sequence[int], clusters: Sequence[str]
                    ) -> list[FloatArray]:
    """Return the scores of each question's options, learned without the question's cluster.

    A conditional logit (McFadden 1974) with a ridge penalty; each of ``features`` is (options,
    features). With fewer than two clusters nothing is learned, and all scores are zero.
    """
    part = _parts(clusters)
    most = max(map(len, features))
    table = np.zeros((len(features), most, features[0].shape[1]))
    there = np.zeros((len(features), most), dtype=bool)
    for number, one in enumerate(features):
        # Only differences between a question's own options can favour one of them.
        table[number, :len(one)] = one - one.mean(0)
        there[number, :len(one)] = True
    # Scale all features alike; otherwise the ridge would penalise those in large units less.
    table /= np.maximum(table[there].std(0), 1e-9)
    scores = np.zeros((len(features), most))
    for fold in range(FOLDS):
        train, test = part != fold, part == fold
        if train.any() and test.any():
            weights = _learned(table[train], there[train], np.asarray(right)[train])
            scores[test] = table[test] @ weights
    return [score[:len(one)] for score, one in zip(scores, features, strict=True)]


def _parts(clusters: Sequence[str]) -> NDArray[np.int64]:
    """Return the fold of each question; all questions of a cluster are in one fold."""
    names = sorted(set(clusters))
    draw = generator("audit").permutation(len(names)) % FOLDS
    fold = dict(zip(names, draw, strict=True))
    return np.array([fold[cluster] for cluster in clusters])


def _learned(table: FloatArray, there: NDArray[np.bool_], right: NDArray[np.int64]) -> FloatArray:
    """Return the learned weights (features,)."""
    chosen = np.arange(len(table)), right

    def loss(weights: FloatArray) -> tuple[float, FloatArray]:
        scores = np.where(there, table @ weights, -np.inf)
        logs = scores - logsumexp(scores, axis=1, keepdims=True)
        wrong = np.exp(logs)
        # The gradient of the negative log-likelihood: predicted minus chosen.
        wrong[chosen] -= 1
        slope = np.einsum("qo,qof->f", wrong, table) + RIDGE * weights
        # The ridge keeps weights finite where a feature separates all answers.
        return float(-logs[chosen].sum() + RIDGE / 2 * weights @ weights), slope

    found = minimize(loss, np.zeros(table.shape[2]), jac=True, method="L-BFGS-B",
                     options={"maxiter": 300})
    return np.asarray(found.x, dtype=np.float64)
