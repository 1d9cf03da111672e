"""Simulated participants, to pilot a study and its analysis before real people take part.

A participant knows the answer with a probability that depends on the condition, the person, the
action and the clip (the last three are normal in logits), and guesses otherwise. Response times are
lognormal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import optimize
from scipy.special import expit, roots_hermitenorm

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.seeds import generator
from mimegen.evaluation.question import Question
from mimegen.study.conditions import study_conditions
from mimegen.study.folder import Study
from mimegen.study.public import session_order
from mimegen.study.responses import Response, TaskAnswer
from mimegen.study.settings import Task
from mimegen.study.trials import Trial

# Standard deviations in logits: of people, of actions, and of the clips of an action.
PERSON_SD, ACTION_SD, CLIP_SD = 0.5, 0.8, 0.5
# Median response times of right answers, in milliseconds, and the standard deviations of their
# logarithm: between people, and between the answers of a person.
MEDIAN_RT_MS: dict[Task, float] = {"choice": 2500, "free": 6000, "same": 2500, "ratings": 9000}
PERSON_RT_SD, ANSWER_RT_SD = 0.25, 0.4
# How much longer wrong answers take, and how fast careless people are.
WRONG_RT, CARELESS_RT = 1.25, 0.15
DEFAULT_ACCURACY = 0.9
MOST_SIMULATED = 10_000
# Accuracy of people who are not careless at practice and attention checks.
CHECK_ACCURACY = 0.98
# Mean and standard deviation of simulated ratings, from 0 to 100.
RATING_MEAN, RATING_SD = 70.0, 12.0
ALWAYS = 30.0  # logits at which a probability is 1 in floating point
NODES = 40


@dataclass(frozen=True)
class Simulation:
    """What is simulated: ``accuracy`` by condition or task, "" for all others.

    ``careless`` is the share of participants who guess fast, ``unfinished`` of those who stop
    early.
    """

    participants: int
    seed: int
    accuracy: Mapping[str, float]
    careless: float = 0.0
    unfinished: float = 0.0


@dataclass(frozen=True)
class SimulatedSession:
    """One participant: the list, and the responses in the order in which they were given."""

    name: str
    list: int
    responses: Mapping[str, Response]
    is_finished: bool


def parse_accuracies(texts: Sequence[str]) -> dict[str, float]:
    """Return accuracies from ``P`` and ``NAME=P``. Raises RequestError unless P is 0 to 1."""
    found = {"": DEFAULT_ACCURACY}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1:
            raise RequestError(f"--accuracy {text}: expected a number from 0 to 1, or"
                               " CONDITION=NUMBER, as in base+misaligned@0=0.8")
        found[name.strip()] = share
    return found


class Asked:
    """The questions of a study by trial and task, and the condition of each trial."""

    def __init__(self, study: Study, questions: Sequence[Question]) -> None:
        self.study = study
        self._known = {one.question_id: one for one in questions}
        counted = [self.question(name) for names in study.lists for name in names]
        self._condition = study_conditions(questions)
        self.labels = sorted({label for one in counted for label in one.labels[:1]})

    def question(self, name: str, task: Task | None = None) -> Question:
        """Return the question of a trial's task, or of its last task."""
        asked = self.study.trials[name].questions
        return self._known[asked[task or self.study.trials[name].tasks[-1]]]

    def condition(self, name: str) -> str:
        """Return the condition of a trial."""
        return self._condition(self.question(name))

    def accuracy(self, name: str, task: Task, accuracy: Mapping[str, float]) -> float:
        """Return the accuracy at a trial's task: that of its condition, of its task, or any."""
        return accuracy[next(key for key in (self.condition(name), task, "") if key in accuracy)]

    def conditions(self) -> list[str]:
        """Return all conditions of the trials that count."""
        return sorted({self.condition(name) for names in self.study.lists for name in names})

    def check(self, accuracy: Mapping[str, float]) -> None:
        """Raise RequestError for an accuracy of what is neither a condition nor a task."""
        known = [*self.conditions(), *MEDIAN_RT_MS]
        for name in accuracy:
            if name and name not in known:
                raise RequestError(f"--accuracy {name}: the study has no such condition or task"
                                   f"{near_misses(name, known)}; its conditions:"
                                   f" {', '.join(self.conditions())}")


def simulated_sessions(asked: Asked, wanted: Simulation) -> Iterator[SimulatedSession]:
    """Yield the sessions of simulated participants; the first do not depend on how many follow."""
    for number in range(1, wanted.participants + 1):
        yield _Participant(asked, wanted, number).session()


class _Participant:
    """One simulated participant; ``is_careless`` ones guess."""

    def __init__(self, asked: Asked, wanted: Simulation, number: int) -> None:
        self.asked, self.study, self.wanted, self.number = asked, asked.study, wanted, number
        self.chance = generator(wanted.seed, "study", "participant", number)
        self.is_careless = self.chance.random() < wanted.careless
        self.stops = self.chance.random() < wanted.unfinished
        self.ability, self.pace = self.chance.standard_normal(2)

    def session(self) -> SimulatedSession:
        """Return the participant's answers."""
        list_ = (self.number - 1) % len(self.study.lists)
        order = session_order(self.study, self.number, list_)
        last = int(self.chance.integers(1, len(order))) if self.stops and len(order) > 1 \
            else len(order)
        return SimulatedSession(
            f"simulated-{self.number:04d}", list_,
            {name: self._response(name) for name in order[:last]}, last == len(order))

    def _response(self, name: str) -> Response:
        tasks = self.study.trials[name].tasks
        return Response(answers={task: self._answer(name, task) for task in tasks})

    def _answer(self, name: str, task: Task) -> TaskAnswer:
        trial, question = self.study.trials[name], self.asked.question(name, task)
        right = bool(self.chance.random() < self._probability(name, task, question))
        time = self._time_ms(task, right)
        limit = self.study.settings.time_limit_s.get(task)
        late = limit is not None and time > 1000 * limit
        content = {} if late else self._content(trial, task, question, right)
        return TaskAnswer(rt_ms=round(1000 * limit if late and limit else time), replays=0,
                          timed_out=late, **content)

    def _probability(self, name: str, task: Task, question: Question) -> float:
        if self.is_careless:
            return 1 / len(question.options) if question.options else 0.0
        if not question.counts:
            return CHECK_ACCURACY
        share = self.asked.accuracy(name, task, self.wanted.accuracy)
        guess = guessing(share, question)
        return float(guess + (1 - guess) * expit(
            centre(known(share, guess)) + PERSON_SD * self.ability
            + difficulty(self.wanted.seed, question)))

    def _time_ms(self, task: Task, right: bool) -> float:
        noise = PERSON_RT_SD * self.pace + ANSWER_RT_SD * self.chance.standard_normal()
        factor = CARELESS_RT if self.is_careless else 1.0 if right else WRONG_RT
        return float(MEDIAN_RT_MS[task] * factor * np.exp(noise))

    def _content(self, trial: Trial, task: Task, question: Question, right: bool
                 ) -> dict[str, Any]:
        """Return the field of a right or wrong answer that its task fills in."""
        if task == "ratings":
            return {"ratings": self._ratings(trial, right)}
        if task != "free":
            return {"option": self._option(question, right)}
        return {"text": question.answer if right else self._wrong_text(question)}

    def _option(self, question: Question, right: bool) -> int:
        place = question.options.index(question.answer)
        if right or len(question.options) == 1:
            return place
        return (place + int(self.chance.integers(1, len(question.options)))) % len(
            question.options)

    def _wrong_text(self, question: Question) -> str:
        if question.tolerance is not None:
            return f"{float(question.answer) + 2 * question.tolerance + 1:g}"
        others = [label for label in self.asked.labels if label not in question.labels]
        return others[int(self.chance.integers(len(others)))] if others else "I do not know"

    def _ratings(self, trial: Trial, right: bool) -> dict[str, float]:
        names = [slider.name for slider in self.study.settings.ratings.sliders]
        values = np.clip(self.chance.normal(RATING_MEAN, RATING_SD, len(names)), 0, 100)
        found = {name: float(round(value)) for name, value in zip(names, values, strict=True)}
        for name, (low, high) in trial.expected.items():
            found[name] = (low + high) / 2 if right else (0.0 if low > 0 else 100.0)
        return found


def guessing(share: float, question: Question) -> float:
    """Return how often a guess is right; 0 without options, or if people do worse than guessing."""
    chance = 1 / len(question.options) if len(question.options) > 1 else 0.0
    return chance if share >= chance else 0.0


def known(share: float, guess: float) -> float:
    """Return the share of answers that are known, if so many are right and others guessed."""
    return (share - guess) / (1 - guess)


@cache
def centre(share: float) -> float:
    """Return the logit at which people of all abilities are right in a share of all clips."""
    if share in (0.0, 1.0):
        return ALWAYS * (2 * share - 1)
    spread = float(np.sqrt(PERSON_SD**2 + ACTION_SD**2 + CLIP_SD**2))
    nodes, weights = roots_hermitenorm(NODES)
    weights = weights / weights.sum()
    return float(optimize.brentq(
        lambda logit: float(weights @ expit(logit + spread * nodes)) - share, -ALWAYS, ALWAYS))


@cache
def _normal(*parts: int | str) -> float:
    return float(generator(*parts).standard_normal())


def difficulty(seed: int, question: Question) -> float:
    """Return how much easier a clip is than the mean, in logits; the same for all participants."""
    return (ACTION_SD * _normal(seed, "study", "action", question.action)
            + CLIP_SD * _normal(seed, "study", "clip", question.sample_id))
