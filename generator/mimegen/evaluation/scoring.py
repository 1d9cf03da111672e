"""Answers to scores: each answer right or wrong, then tables and contrasts with intervals."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.base.errors import RequestError
from mimegen.evaluation.answers import Answer
from mimegen.evaluation.embedding import similarities
from mimegen.evaluation.question import Question
from mimegen.evaluation.reading import chosen_option, final_phrase
from mimegen.evaluation.statistics import McNemar, clustered_wilson, holm, weighted_mean, wilson

Similarity = Callable[[Sequence[str], Sequence[str]], NDArray[np.float64]]
# MIME's own for MiniLM; for wordllama what agrees with it best on MIME's published answers.
THRESHOLDS = {"wordllama": 0.25, "minilm": 0.5}
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
# What the benchmark is about: the second variant minus the first, all else equal.
CONTRASTS = {
    "aligned background": ("base+blank@0", "base+aligned@0"),
    "misaligned background": ("base+blank@0", "base+misaligned@0"),
    "woman": ("base+blank@0", "woman+blank@0"),
    "spacesuit": ("base+blank@0", "adversarial+blank@0"),
    "aligned background, spacesuit": ("adversarial+blank@0", "adversarial+aligned@0"),
    "misaligned background, spacesuit": ("adversarial+blank@0", "adversarial+misaligned@0"),
    "from 90 degrees": ("base+blank@0", "base+blank@90"),
    "from 180 degrees": ("base+blank@0", "base+blank@180"),
    "from 270 degrees": ("base+blank@0", "base+blank@270"),
}


@dataclass(frozen=True)
class Scored:
    """An answer with its verdict. What could not be parsed is wrong, and counted apart.

    ``said`` is the option chosen, or the phrase compared; ``similarity`` is its best to a label.
    """

    question: Question
    model: str
    said: str | None
    right: bool
    similarity: float | None = None

    @property
    def kind(self) -> tuple[str, str, str, str]:
        """Model, format, what is asked for and prompting: what tables are parted by."""
        return self.model, self.question.format, self.question.asks, self.question.prompting


def score(answers: Sequence[Answer], similarity: str) -> list[Scored]:
    """Return every answer's verdict; free form by ``wordllama`` or ``minilm``.

    Raises RequestError where minilm is asked for and cannot be loaded.
    """
    compare = similarities if similarity == "wordllama" else _minilm()
    return [_choice(answer) if answer.question.options else
            _phrase(answer, compare, THRESHOLDS[similarity]) for answer in answers]


def _choice(answer: Answer) -> Scored:
    question = answer.question
    place = chosen_option(answer.output, question.options)
    said = None if place is None else question.options[place]
    return Scored(question, answer.model, said, said == question.answer)


def _phrase(answer: Answer, compare: Similarity, threshold: float) -> Scored:
    said = final_phrase(answer.output)
    if not said:
        return Scored(answer.question, answer.model, None, False)
    best = float(compare([said.lower()], answer.question.labels).max())
    return Scored(answer.question, answer.model, said, best >= threshold, round(best, 4))


def _minilm() -> Similarity:
    try:
        from sentence_transformers import SentenceTransformer
        model = SentenceTransformer(MINILM)
    except ImportError as problem:
        raise RequestError("--similarity minilm: needs sentence-transformers; pip install"
                           " 'mimegen[minilm]'") from problem
    except OSError as problem:
        raise RequestError(f"--similarity minilm: {MINILM} could not be loaded; fetch it once with"
                           " a network, or use wordllama") from problem

    def compare(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        vectors = [model.encode(list(texts), normalize_embeddings=True)
                   for texts in (first, second)]
        return np.asarray(vectors[0] @ vectors[1].T, dtype=np.float64)

    return compare


def report(scored: Sequence[Scored], questions: Sequence[Question]) -> dict[str, Any]:
    """Return tables as JSON content: by variant, contrasts, by action and by semantic group."""
    kinds = sorted({one.kind for one in scored})
    return {"models": [_kind_report(kind, [one for one in scored if one.kind == kind], questions)
                       for kind in kinds]}


def _kind_report(kind: tuple[str, str, str, str], scored: list[Scored],
                 questions: Sequence[Question]) -> dict[str, Any]:
    model, format_, asks, prompting = kind
    asked = sum((one.format, one.asks, one.prompting) == kind[1:] for one in questions)
    return {
        "model": model, "format": format_, "asks": asks, "prompting": prompting, "asked": asked,
        **_share(scored),
        "variants": _parted(scored, lambda one: str(one.question.variant)),
        "contrasts": contrasts(scored),
        "groups": _parted(scored, lambda one: str(one.question.semantic_group)),
        "actions": _parted(scored, lambda one: one.question.action),
        "confusions": _confusions(scored),
    }


def _parted(scored: Iterable[Scored], by: Callable[[Scored], str]) -> dict[str, dict[str, Any]]:
    parts: dict[str, list[Scored]] = defaultdict(list)
    for one in scored:
        parts[by(one)].append(one)
    return {name: _share(parts[name]) for name in sorted(parts)}


def _share(scored: Sequence[Scored]) -> dict[str, Any]:
    """Return accuracy with Wilson's interval, and with one that allows for clusters by action."""
    right = sum(one.right for one in scored)
    clusters: dict[str, list[bool]] = defaultdict(list)
    for one in scored:
        clusters[one.question.action].append(one.right)
    sums = np.array([sum(found) for found in clusters.values()], dtype=float)
    counts = np.array([len(found) for found in clusters.values()], dtype=float)
    return {"answered": len(scored), "right": right, "accuracy": right / len(scored),
            "wilson": list(wilson(right / len(scored), len(scored))),
            "by_action": list(clustered_wilson(sums, counts)),
            "unparsed": sum(one.said is None for one in scored) / len(scored)}


def contrasts(scored: Sequence[Scored]) -> list[dict[str, Any]]:
    """Return the contrasts that the answers hold, of performances that both variants show.

    ``difference`` is of shares, with an interval over actions; ``p`` is McNemar's exact test, and
    ``p_holm`` allows for the number of contrasts.
    """
    right = {(one.question.variant, one.question.performance or one.question.take): one
             for one in scored}
    found = [contrast for name, pair in CONTRASTS.items()
             if (contrast := _contrast(name, pair, right))]
    adjusted = holm([one["p"] for one in found])
    return [one | {"p_holm": p} for one, p in zip(found, adjusted, strict=True)]


def _contrast(name: str, pair: tuple[str, str], right: dict[tuple[str | None, str], Scored]
              ) -> dict[str, Any] | None:
    pairs = [(one, right[pair[1], performance]) for (variant, performance), one in right.items()
             if variant == pair[0] and (pair[1], performance) in right]
    if not pairs:
        return None
    first = sum(one.right and not other.right for one, other in pairs)
    second = sum(other.right and not one.right for one, other in pairs)
    return {"contrast": name, "minus": pair[0], "variant": pair[1], "pairs": len(pairs),
            "lost": first, "gained": second, "difference": (second - first) / len(pairs),
            "interval": _difference_interval(pairs), "p": McNemar(len(pairs), first, second).p}


def _difference_interval(pairs: Sequence[tuple[Scored, Scored]]) -> list[float] | None:
    """Return the interval of a difference over actions; None for a single action."""
    clusters: dict[str, list[int]] = defaultdict(list)
    for one, other in pairs:
        clusters[one.question.action].append(int(other.right) - int(one.right))
    if len(clusters) < 2:
        return None
    means = np.array([np.mean(found) for found in clusters.values()])
    counts = np.array([len(found) for found in clusters.values()], dtype=float)
    return list(weighted_mean(means, counts).interval())


def _confusions(scored: Sequence[Scored]) -> list[dict[str, Any]]:
    """Return which wrong options were chosen for which answers, the commonest first."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for one in scored:
        if one.question.options and one.said is not None and not one.right:
            counts[one.question.answer, one.said] += 1
    return [{"answer": answer, "said": said, "times": times} for (answer, said), times
            in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))]
