"""Find what can be answered without a video: audit a file of questions from any source.

Each rule sees a question's options and, for counts, the rest of the file, and scores how likely
each option is. Its accuracy is tested against chance. Questions about one action are not
independent, least of all those that share their options, so the test uses the effective number of
questions, given the clusters (Korn & Graubard 1998).
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from mimegen.base.arrays import FloatArray
from mimegen.base.counted import counted
from mimegen.base.errors import RequestError
from mimegen.base.names import words
from mimegen.evaluation.classifier import cross_validated
from mimegen.evaluation.embedding import similarities
from mimegen.evaluation.question import json_lines, right_option
from mimegen.evaluation.statistics import clustered_share, holm

# Significance level, after correction, at which a rule counts as beating chance.
LEVEL = 0.01
# Formats whose options are labels. A file counts as guessable if knowing the set's labels makes
# guesses right at least this many times as often as chance.
OF_LABELS = ("mc", "3afc")
TOLERATED = 1.5
# The possible verdicts of an audit.
TOO_FEW, LEAKS, PASSES = "too_few_questions", "leaks", "passes"
Rule = Callable[["Item"], FloatArray]


@dataclass(frozen=True)
class Item:
    """What an audit knows about a question; ``cluster`` is its action, or its answer."""

    options: tuple[str, ...]
    right: int
    cluster: str
    clip: str
    background: str
    background_kind: str
    name: str = ""
    format: str = ""

    @property
    def answer(self) -> str:
        """The correct option."""
        return self.options[self.right]


@dataclass(frozen=True)
class RuleFinding:
    """The accuracy of a rule (a tie counts as a fraction), with interval, chance level and p.

    ``p`` is one-sided, against accuracy at or below chance; ``p_holm`` is corrected for the number
    of rules. A rule without ``p`` is descriptive only.
    """

    rule: str
    accuracy: float
    low: float
    high: float
    chance: float
    questions: int
    effective: float
    p: float | None = None
    p_holm: float | None = None

    @property
    def leaks(self) -> bool:
        """Whether the rule is significantly above chance."""
        return self.p_holm is not None and self.p_holm < LEVEL


@dataclass(frozen=True)
class OwnLabels:
    """By question, the number of options that are labels of the set: the answer to some question.

    ``guessed`` is the accuracy of guessing among these options.
    """

    counts: dict[str, int]
    guessed: float
    chance: float

    @property
    def leaks(self) -> bool:
        """Whether knowing the labels alone makes the answers guessable."""
        return self.guessed >= TOLERATED * self.chance


@dataclass(frozen=True)
class Evidence:
    """The number of actions that are asked about, what they count for, and what is enough.

    Actions with unequal numbers of questions count for fewer (Kish's effective number), rounded
    down. ``enough`` holds for actions with equal numbers of questions.
    """

    actions: int
    counts_for: int
    enough: int

    @property
    def advice(self) -> str:
        """What there is, and what would be enough, for readers."""
        unequal = (f", which count for {self.counts_for} because they have unequal numbers of"
                   " questions" if self.counts_for < self.actions else "")
        choose = ("; mimegen questions --variants asks only about variants that all of them have"
                  if unequal else "")
        return (f"it has {counted(self.actions, 'action')}{unequal};"
                f" {counted(self.enough, 'action')} with equal numbers of questions would be"
                f" enough{choose}")


@dataclass(frozen=True)
class Verdict:
    """The verdict on a file, and the rules that answer it without a video.

    With too few questions, ``evidence`` says what there is and what would be enough.
    """

    name: str
    leaks: tuple[str, ...] = ()
    evidence: Evidence | None = None

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        level = f"(p < {LEVEL} after Holm)"
        return {
            TOO_FEW: "too few questions to judge: even a rule that is always right could not be"
                     f" told from chance {level}; {self.evidence and self.evidence.advice}",
            LEAKS: f"can be answered without video by: {', '.join(self.leaks)} {level}",
            PASSES: f"no rule beats chance {level}"}[self.name]


def own_labels(items: Sequence[Item]) -> OwnLabels | None:
    """Return how many options are the set's own labels; None if no format has labels as options."""
    asked = [item for item in items if item.format in OF_LABELS]
    if not asked:
        return None
    labels = {item.answer for item in asked}
    counts = {item.name: len(labels.intersection(item.options)) for item in asked}
    return OwnLabels(counts, float(np.mean([1 / count for count in counts.values()])),
                     float(np.mean([1 / len(item.options) for item in asked])))


def read_items(path: Path) -> list[Item]:
    """Read questions in the plain form: ``options`` and ``answer``; other fields are optional.

    The answer is one of the options, its letter or its number from 0. Questions without options are
    skipped. Raises RequestError naming an invalid line, or if nothing is left.
    """
    lines = json_lines(path)
    _refuse_doubles(path, lines)
    items = [_item(path, number, content) for number, content in lines if content.get("options")]
    if not items:
        raise RequestError(f"{path}: no question has options; only questions with options can be"
                           " audited")
    return items


def _refuse_doubles(path: Path, lines: Sequence[tuple[int, dict[str, Any]]]) -> None:
    """Raise RequestError if two questions have the same id; the id may be missing."""
    first: dict[str, int] = {}
    for number, content in lines:
        name = content.get("question_id")
        if name is not None and first.setdefault(str(name), number) != number:
            raise RequestError(f"{path}: line {number}: question_id: {name} already occurs in line"
                               f" {first[str(name)]}")


def _item(path: Path, number: int, content: dict[str, Any]) -> Item:
    """Return one line's question as an item. Raises RequestError naming the line if invalid."""
    options = content["options"]
    if not isinstance(options, list) or len(options) < 2 or not all(
            isinstance(option, str) and option.strip() for option in options):
        raise RequestError(f"{path}: line {number}: options: expected a list of two texts or more")
    if len(set(options)) < len(options):
        raise RequestError(f"{path}: line {number}: options: one option occurs twice")
    right = right_option(options, content.get("answer"))
    if right is None:
        raise RequestError(f"{path}: line {number}: answer: expected one of the options, its letter"
                           f" or its number from 0 (got {content.get('answer')!r})")
    clip = content.get("clip") or content.get("file_name") or content.get("video") or ""
    return Item(tuple(options), right, str(content.get("action") or options[right]),
                Path(str(clip)).stem, str(content.get("background_name") or ""),
                str(content.get("background_config") or ""),
                str(content.get("question_id") or f"line {number}"),
                str(content.get("format") or ""))


def audit(items: Sequence[Item]) -> tuple[list[RuleFinding], list[RuleFinding]]:
    """Return the findings of the rules that should be at chance, and descriptive findings.

    Backgrounds are descriptive only: an aligned background should reveal the action.
    """
    counts = _Counts(items)
    meaning = _Meaning(items)
    # Each rule scores options by a feature that could give the answer away. A minus sign makes the
    # lowest value the best.
    signs: dict[str, Rule] = {
        "rarity": lambda item: -counts.distractor_elsewhere(item),
        "rare option": lambda item: -counts.offered(item),
        "frequent option": counts.offered,
        "label prior": counts.answer_elsewhere,
        "longest": _lengths, "shortest": lambda item: -_lengths(item),
        "most central": meaning.centrality, "least central": lambda item: -meaning.centrality(item),
        "file name": _in_name,
    }
    credits = {name: np.array([_credit(sign(item), item) for item in items])
               for name, sign in signs.items()}
    features = [_features(item, counts, meaning) for item in items]
    credits["classifier"] = _classified(items, features)
    tested = [_position(items), *(_finding(name, credit, items)
                                  for name, credit in credits.items())]
    # All rules are tested on one file, so without correction one of eleven would have p below 0.01
    # in a tenth of fair files.
    adjusted = holm([one.p or 0.0 for one in tested])
    tested = [RuleFinding(**asdict(one) | {"p_holm": p})
              for one, p in zip(tested, adjusted, strict=True)]
    return tested, _backgrounds(items, meaning)


def verdict(items: Sequence[Item], tested: Sequence[RuleFinding], own: OwnLabels | None
            ) -> Verdict:
    """Return the overall verdict on a file, which also sets the exit status."""
    evidence = _evidence(items, len(tested))
    if evidence.counts_for < evidence.enough:
        return Verdict(TOO_FEW, evidence=evidence)
    leaks = [one.rule for one in tested if one.leaks]
    leaks += ["own labels"] if own and own.leaks else []
    return Verdict(LEAKS if leaks else PASSES, tuple(leaks))


def _evidence(items: Sequence[Item], rules: int) -> Evidence:
    """Return how many actions there are, and how many a rule that is always right would need.

    No rule can give stronger evidence. Of ``n`` independent questions it answers all, which has the
    probability ``chance ** n`` by chance; it is multiplied by the number of rules.
    """
    chance = _chance(items)
    enough = next(number for number in count(1) if rules * chance**number < LEVEL)
    _, asked = _clusters(np.ones(len(items)), items)
    return Evidence(len(asked), math.floor(_kish(asked) + 1e-9), enough)


class _Counts:
    """How often each option occurs in the file, as option, answer or distractor."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.as_option = Counter(option for item in items for option in item.options)
        self.as_answer = Counter((item.cluster, item.answer) for item in items)
        self.answers = Counter(item.answer for item in items)
        # By the answer beside which they occur, so that some answers can be left out.
        self.beside = Counter((item.answer, option) for item in items for option in item.options
                              if option != item.answer)
        self.distractors = Counter(option for item in items for option in item.options
                                   if option != item.answer)

    def distractor_elsewhere(self, item: Item) -> FloatArray:
        """Return how often each option is a distractor where none of these options is the answer.

        Leaving out only the question itself would lower the counts of its distractors by one but
        not that of its answer.
        """
        return np.array([self.distractors[option] - sum(self.beside[answer, option]
                                                        for answer in item.options)
                         for option in item.options], dtype=float)

    def offered(self, item: Item) -> FloatArray:
        """Return how often each option is offered, which needs no knowledge of the answers."""
        return np.array([self.as_option[option] for option in item.options], dtype=float)

    def answer_elsewhere(self, item: Item) -> FloatArray:
        """Return how often each option is the answer to questions of other clusters."""
        return np.array([self.answers[option] - self.as_answer[item.cluster, option]
                         for option in item.options], dtype=float)


class _Meaning:
    """The similarity in meaning between all options in the file."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.texts = sorted({text for item in items for text in item.options})
        self.place = {text: number for number, text in enumerate(self.texts)}
        self.similarity = similarities(self.texts, self.texts)

    def centrality(self, item: Item) -> FloatArray:
        """Return each option's mean similarity to the other options."""
        places = [self.place[option] for option in item.options]
        among = self.similarity[np.ix_(places, places)]
        return np.asarray(np.round((among.sum(1) - np.diag(among)) / (len(places) - 1), 6))


def _lengths(item: Item) -> FloatArray:
    return np.array([len(option) for option in item.options], dtype=float)


def _in_name(item: Item) -> FloatArray:
    """Return the fraction of each option's letters in words that occur in the clip's name."""
    name = _plain(item.clip)
    shares = []
    for option in item.options:
        # Words of one or two letters occur in any name.
        words = [plain for word in option.split() if len(plain := _plain(word)) > 2]
        letters = sum(map(len, words))
        shares.append(sum(len(word) for word in words if word in name) / letters if letters else 0)
    return np.array(shares)


def _plain(text: str) -> str:
    return "".join(letter for letter in text.lower() if letter.isalnum())


def _credit(scores: FloatArray, item: Item) -> float:
    """Return 1 if the answer alone has the highest score, a fraction if others share it, else 0."""
    best = scores == scores.max()
    # A rule that cannot decide between k options would guess among them.
    return float(best[item.right] / best.sum())


def _features(item: Item, counts: _Counts, meaning: _Meaning) -> FloatArray:
    """Return the features of each option for the classifier, (options, features)."""
    length = _lengths(item)
    words = np.array([len(option.split()) for option in item.options], dtype=float)
    doing = np.array([option.split()[0].endswith("ing") for option in item.options], dtype=float)
    centrality = meaning.centrality(item)
    places = np.eye(len(item.options), 8)
    return np.column_stack([
        np.log1p(counts.distractor_elsewhere(item)), np.log1p(counts.offered(item)), length,
        length == length.max(), length == length.min(), words, doing, centrality,
        centrality == centrality.max(), centrality == centrality.min(), places])


def _classified(items: Sequence[Item], features: Sequence[FloatArray]) -> FloatArray:
    """Return the credit of a classifier that is trained on other clusters."""
    chances = cross_validated(features, [item.right for item in items],
                              [item.cluster for item in items])
    return np.array([_credit(np.round(chance, 6), item)
                     for chance, item in zip(chances, items, strict=True)])


def _position(items: Sequence[Item]) -> RuleFinding:
    """Return the accuracy at the best position, its p corrected for choosing the position."""
    right = np.array([item.right for item in items])
    places = range(max(len(item.options) for item in items))
    found = [_finding("position", (right == place).astype(float), items) for place in places]
    # The best position is chosen after seeing the answers, so its p is multiplied by the number of
    # positions.
    best = max(found, key=lambda one: one.accuracy)
    return RuleFinding(**asdict(best) | {"p": min(1.0, (best.p or 0.0) * len(places))})


def _finding(rule: str, credit: FloatArray, items: Sequence[Item]) -> RuleFinding:
    """Return a rule's accuracy with its interval and the p of a one-sided binomial test."""
    chance = _chance(items)
    right, asked = _clusters(credit, items)
    effective = _effective(credit, right, asked, chance)
    accuracy = float(credit.mean())
    low, high = clustered_share(right, asked)
    # Both numbers are rounded down, which favours chance.
    hits = math.floor(accuracy * effective + 1e-9)
    p = float(stats.binomtest(hits, math.floor(effective + 1e-9), chance, "greater").pvalue)
    return RuleFinding(rule, accuracy, low, high, chance, len(items), round(effective, 1), p)


def _chance(items: Sequence[Item]) -> float:
    """Return the share of questions that guessing gets right; an item has two options or more."""
    return float(np.mean([1 / len(item.options) for item in items]))


def _clusters(credit: FloatArray, items: Sequence[Item]) -> tuple[FloatArray, FloatArray]:
    """Return each cluster's sum of credit and its number of questions."""
    _, number = np.unique([item.cluster for item in items], return_inverse=True)
    return np.bincount(number, credit).astype(float), np.bincount(number).astype(float)


def _effective(credit: FloatArray, right: FloatArray, asked: FloatArray, chance: float) -> float:
    """Return the number of independent questions that the file is worth (design effect).

    At most the number of questions, and at least the number of clusters that would be effective if
    each were one question.
    """
    total, count = asked.sum(), len(asked)
    weights_alone = _kish(asked)
    share = credit.mean()
    # The linearised variance of a ratio, over clusters (Korn & Graubard 1998).
    residual = right - share * asked
    variance = float((residual**2).sum() / total**2 * count / max(count - 1, 1))
    if variance <= 0 or not 0 < share < 1:
        return weights_alone
    return float(np.clip(share * (1 - share) / variance, min(weights_alone, total), total))


def _kish(asked: FloatArray) -> float:
    """Return Kish's effective number of clusters of unequal sizes, each counted as one question."""
    return float(asked.sum()**2 / (asked**2).sum())


def _backgrounds(items: Sequence[Item], meaning: _Meaning) -> list[RuleFinding]:
    """Return the accuracy of matching options to the background's name, by kind of background."""
    found = []
    for kind in sorted({item.background_kind for item in items if item.background}):
        # Separately for each kind: aligned backgrounds should reveal the action, blank ones cannot.
        own = [item for item in items if item.background and item.background_kind == kind]
        names = sorted({words(item.background) for item in own})
        table = similarities(names, meaning.texts)
        credit = np.array([_credit(table[names.index(words(item.background))][
            [meaning.place[option] for option in item.options]], item) for item in own])
        finding = _finding(f"background ({kind or 'any'})", credit, own)
        found.append(RuleFinding(**asdict(finding) | {"p": None}))
    return found
