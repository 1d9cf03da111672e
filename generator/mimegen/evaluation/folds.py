"""Five folds by action for fine-tuning: 36 parts train, 14 validation, 36 test, as in MIME."""

from collections.abc import Collection

from mimegen.base.seeds import generator

FOLDS = 5
# Relative sizes of the parts.
TRAIN = 36
VALIDATION = 14
TEST = 36


def split_of_actions(actions: Collection[str], fold: int, seed: int) -> dict[str, str]:
    """Return ``train``, ``validation`` or ``test`` for each action in one of folds 1 to 5.

    All takes and variants of an action are in the same part. Actions are arranged in a circle, and
    each fold starts a fifth further on, so that every action is in the test part two or three
    times.
    """
    names = sorted(actions)
    circle = [names[place] for place in generator(seed, "folds").permutation(len(names))]
    whole = TRAIN + VALIDATION + TEST
    start = (fold - 1) * len(circle) // FOLDS
    turned = circle[start:] + circle[:start]
    test, validation = (round(len(circle) * part / whole) for part in (TEST, VALIDATION))
    return {action: "test" if place < test else "validation" if place < test + validation
            else "train" for place, action in enumerate(turned)}
