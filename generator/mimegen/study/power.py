"""The power of a study by simulation: how often a difference between conditions is found."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit

from mimegen.base.arrays import FloatArray
from mimegen.base.errors import RequestError
from mimegen.base.seeds import generator
from mimegen.evaluation.differences import LEVEL, POWER, SharePair, difference_p
from mimegen.study.simulation import ACTION_SD, CLIP_SD, PERSON_SD, Asked, centre, guessing, known

# Number of participants that are tried unless others are given.
SIZES = (12, 24, 48, 96, 192)
REPEATS = 400
MIN_PEOPLE = 2


@dataclass(frozen=True)
class PowerRequest:
    """What is simulated how often: numbers of participants, and the accuracy by condition."""

    sizes: tuple[int, ...]
    accuracy: Mapping[str, float]
    seed: int = 0
    repeats: int = REPEATS


@dataclass(frozen=True)
class _Trials:
    """The trials of a list: their clips and actions by number, their conditions, how often guesses
    are right, and the logits of what is known.
    """

    clips: Sequence[int]
    actions: Sequence[int]
    conditions: Sequence[str]
    performances: Sequence[str]
    guesses: FloatArray
    logits: FloatArray


def compared(asked: Asked, accuracy: Mapping[str, float]) -> list[tuple[str, str]]:
    """Return the pairs of conditions whose accuracies differ.

    Raises RequestError if there are none.
    """
    shares = {asked.condition(name): asked.accuracy(name, asked.study.trials[name].tasks[-1],
                                                    accuracy)
              for names in asked.study.lists for name in names}
    pairs = [(first, second) for first, second in combinations(sorted(shares), 2)
             if shares[first] != shares[second]]
    if not pairs:
        raise RequestError("--accuracy: power needs two conditions of different accuracy, as in"
                           f" --accuracy 0.95 --accuracy {min(shares)}=0.85; the study's"
                           f" conditions: {', '.join(sorted(shares))}")
    return pairs


def power_rows(asked: Asked, request: PowerRequest) -> list[dict[str, Any]]:
    """Return the power for each pair of conditions and number of participants.

    ``over_participants`` is the share of simulated studies in which a paired t test over
    participants is significant, ``over_actions`` that of the test of ``mimegen evaluate``.
    None if no test is possible.
    """
    lists = [*_lists(asked, request.accuracy)]
    pairs = compared(asked, request.accuracy)
    rows = []
    for size in request.sizes:
        found = [_study(lists, size, pairs, generator(request.seed, "study power", size, repeat))
                 for repeat in range(request.repeats)]
        for place, (first, second) in enumerate(pairs):
            people, actions = (_share([one[place][test] for one in found]) for test in range(2))
            rows.append({"first": first, "second": second, "participants": size,
                         "over_participants": people, "over_actions": actions})
    return rows


def needed(rows: Sequence[Mapping[str, Any]], first: str, second: str, test: str) -> int | None:
    """Return the fewest participants tried from which on the power suffices; None if none do."""
    own = sorted((one["participants"], one[test] or 0.0) for one in rows
                 if (one["first"], one["second"]) == (first, second))
    enough = [size for place, (size, _) in enumerate(own)
              if all(power >= POWER for _, power in own[place:])]
    return min(enough, default=None)


def _share(p: Sequence[float | None]) -> float | None:
    known = [one <= 1 - LEVEL for one in p if one is not None]
    return sum(known) / len(p) if known else None


def _lists(asked: Asked, accuracy: Mapping[str, float]) -> Iterator[_Trials]:
    """Yield the trials of each list, with clips and actions numbered over all lists."""
    clips: dict[str, int] = {}
    actions: dict[str, int] = {}
    for names in asked.study.lists:
        questions = [asked.question(name) for name in names]
        tasks = [asked.study.trials[name].tasks[-1] for name in names]
        shares = [asked.accuracy(name, task, accuracy)
                  for name, task in zip(names, tasks, strict=True)]
        guesses = [guessing(share, one) for share, one in zip(shares, questions, strict=True)]
        yield _Trials(
            [clips.setdefault(one.sample_id, len(clips)) for one in questions],
            [actions.setdefault(one.action, len(actions)) for one in questions],
            [asked.condition(name) for name in names],
            [one.performance_id for one in questions],
            np.array(guesses),
            np.array([centre(known(share, guess))
                      for share, guess in zip(shares, guesses, strict=True)]))


def _study(lists: Sequence[_Trials], people: int, pairs: Sequence[tuple[str, str]],
           chance: np.random.Generator) -> list[tuple[float | None, float | None]]:
    """Simulate a study; return p over participants and over actions, for each pair."""
    easy_action = ACTION_SD * chance.standard_normal(1 + max(max(one.actions) for one in lists))
    easy_clip = CLIP_SD * chance.standard_normal(1 + max(max(one.clips) for one in lists))
    persons: list[dict[str, list[float]]] = []
    clips: dict[tuple[str, int, str], list[float]] = defaultdict(list)
    for number in range(people):
        one = lists[number % len(lists)]
        knows = expit(one.logits + PERSON_SD * chance.standard_normal()
                      + easy_action[one.actions] + easy_clip[one.clips])
        chances = one.guesses + (1 - one.guesses) * knows
        rights = chance.random(len(chances)) < chances
        own: dict[str, list[float]] = defaultdict(list)
        for place, right in enumerate(rights):
            own[one.conditions[place]].append(float(right))
            clips[one.performances[place], one.actions[place], one.conditions[place]].append(
                float(right))
        persons.append(own)
    return [(_over_people(persons, *pair), _over_actions(clips, *pair)) for pair in pairs]


def _over_people(persons: Sequence[Mapping[str, Sequence[float]]], first: str, second: str
                 ) -> float | None:
    gaps = np.array([np.mean(one[first]) - np.mean(one[second]) for one in persons
                     if one.get(first) and one.get(second)])
    if len(gaps) < MIN_PEOPLE:
        return None
    if np.ptp(gaps) == 0:
        return 1.0 if gaps[0] == 0 else 0.0
    return float(stats.ttest_1samp(gaps, 0).pvalue)


def _over_actions(clips: Mapping[tuple[str, int, str], Sequence[float]], first: str, second: str
                  ) -> float | None:
    shares: list[SharePair] = [
        (str(action), float(np.mean(right)), float(np.mean(clips[performance, action, second])))
        for (performance, action, condition), right in clips.items()
        if condition == first and (performance, action, second) in clips]
    return difference_p(shares) if shares else None
