"""Find what right answers rely on, from control questions and misleading backgrounds.

``multi-frame gain`` and ``order sensitivity`` follow Shangguan et al. (TOMATO, ICLR 2025): accuracy
with all frames divided by accuracy with one frame, or with shuffled frames, minus 1. ``frame
disparity`` is the accuracy at the best position of a single frame divided by the mean over
positions, minus 1. ``background reliance`` is accuracy on aligned minus accuracy on misaligned
backgrounds of the same performances, also as a share of accuracy.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from mimegen.base.counted import counted
from mimegen.evaluation.controls import BACKGROUND, DOTS, FRAME, PERSON, REVERSED, SHUFFLED, TEXT
from mimegen.evaluation.differences import (
    LEVEL,
    MCNEMAR,
    NO_INTERVAL,
    AnswerPair,
    SharePair,
    difference,
    difference_interval,
)
from mimegen.evaluation.performances import of_known_performances
from mimegen.evaluation.question import Question
from mimegen.evaluation.scoring import ScoredAnswer

Table = dict[str, Any]
# Action, performance, performer and camera angle.
_Seen = tuple[str, str, str, float]


def reliance(scored: Sequence[ScoredAnswer], questions: Sequence[Question]) -> list[Table]:
    """Return a table for each model and kind of question with controls or both backgrounds.

    Differences are between accuracies on the same questions, with intervals from t over actions
    (CR2). ``questions`` are all questions that were asked; they give the position of an answered
    frame.
    """
    places = _places(questions)
    by_type: dict[tuple[str, ...], list[ScoredAnswer]] = defaultdict(list)
    for one in scored:
        question = one.question
        by_type[one.model, question.format, question.asks, question.prompting].append(one)
    tables = [_table(kind, by_type[kind], places) for kind in sorted(by_type)]
    return [table for table in tables if table["controls"] or table["background"]]


def _places(questions: Sequence[Question]) -> dict[str, int]:
    """Return the position, from 0, of the frame in each question about a single frame."""
    singles: dict[str, list[Question]] = defaultdict(list)
    for one in questions:
        if one.control == FRAME:
            singles[str(one.control_of)].append(one)
    return {one.question_id: place for own in singles.values()
            for place, one in enumerate(sorted(own, key=lambda one: (one.frames or [0])[0]))}


def _table(question_type: tuple[str, ...], scored: Sequence[ScoredAnswer], places: Mapping[str, int]
           ) -> Table:
    """Return the table of one model and kind of question."""
    model, format_, asks, prompting = question_type
    whole = [one for one in scored if one.question.control is None]
    full = _shares_right(whole)
    controls: dict[str, list[ScoredAnswer]] = defaultdict(list)
    for one in scored:
        if one.question.control is not None and one.question.control_of in full:
            controls[one.question.control].append(one)
    found = {name: _against_full(controls[name], full) for name in sorted(controls)}
    background = _background(whole)
    table = {"model": model, "format": format_, "asks": asks, "prompting": prompting,
             "controls": found, "background": background,
             "frame_disparity": _disparity(controls.get(FRAME, []), places)}
    return table | {"sentences": _sentences(table)}


def _shares_right(scored: Sequence[ScoredAnswer]) -> dict[str, float]:
    """Return the share of right answers to each question; people may give several."""
    right: dict[str, list[bool]] = defaultdict(list)
    for one in scored:
        right[one.question.question_id].append(one.right)
    return {name: float(np.mean(found)) for name, found in right.items()}


def _against_full(control: Sequence[ScoredAnswer], full: Mapping[str, float]) -> Table:
    """Return a control's accuracy, and that of the same questions with everything shown."""
    pairs = [(one.question.action, full[str(one.question.control_of)], float(one.right))
             for one in control]
    whole, less = _means(pairs)
    return {"answered": len(pairs), "accuracy": less, "full": whole,
            "gain": whole / less - 1 if less else None, "difference": whole - less,
            "interval": _listed(pairs)}


def _listed(pairs: Sequence[SharePair]) -> list[float] | None:
    interval = difference_interval(pairs)
    return None if interval is None else [*interval]


def _means(pairs: Sequence[SharePair]) -> tuple[float, float]:
    """Return the means of the first and of the second values."""
    return (float(np.mean([first for _, first, _ in pairs])),
            float(np.mean([second for *_, second in pairs])))


def _disparity(single: Sequence[ScoredAnswer], places: Mapping[str, int]) -> float | None:
    """Return the accuracy at the best position of a single frame over the mean, minus 1."""
    positions: dict[int, list[bool]] = defaultdict(list)
    for one in single:
        positions[places[one.question.question_id]].append(one.right)
    shares = [float(np.mean(positions[place])) for place in sorted(positions)]
    mean = float(np.mean(shares)) if shares else 0.0
    # By chance alone the best of several positions is above their mean, so only a large value
    # matters.
    return max(shares) / mean - 1 if len(shares) > 1 and mean else None


def _background(full: Sequence[ScoredAnswer]) -> Table | None:
    """Return accuracy on aligned minus misaligned backgrounds, over performances with both.

    Only answers about the same person from the same side are compared.
    """
    seen: dict[_Seen, dict[str, dict[str, list[bool]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list)))
    for one in of_known_performances(full):
        question = one.question
        if question.background_config in ("aligned", "misaligned"):
            key = (question.action, question.performance_id, str(question.avatar),
                   question.angle or 0)
            seen[key][question.background_config][question.sample_id].append(one.right)
    shares: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for (action, performed, *_), kinds in seen.items():
        aligned, misaligned = kinds["aligned"], kinds["misaligned"]
        # Skip performances with more clips on one background: the extra clips have no counterpart.
        if aligned and len(aligned) == len(misaligned):
            shares[action, performed].append((_mean_right(aligned), _mean_right(misaligned)))
    pairs = [AnswerPair(action, *np.mean(shares[action, performed], axis=0)[::-1].tolist())
             for action, performed in sorted(shares)]
    if not pairs:
        return None
    found = difference(pairs, "background")
    misleading, fitting = found["accuracies"]
    accuracy = (fitting + misleading) / 2
    known = found["interval"] is not None or found["test"] == MCNEMAR
    return {"performances": len(pairs), "aligned": fitting, "misaligned": misleading,
            "difference": found["difference"], "interval": found["interval"],
            "test": found["test"], "p": found["p"] if known else None,
            "share_of_accuracy": (fitting - misleading) / accuracy if accuracy else None}


def _mean_right(clips: Mapping[str, Sequence[bool]]) -> float:
    """Return the share of right answers to all clips together."""
    return float(np.mean([right for answers in clips.values() for right in answers]))


def _sentences(table: Table) -> list[str]:
    """Return the meaning of the figures, one sentence each."""
    sentences = [_MEANINGS[name](table["controls"][name]) for name in _MEANINGS
            if name in table["controls"]]
    if table["background"]:
        sentences.append(_of_background(table["background"]))
    return sentences


def _of_background(found: Table) -> str:
    return (f"In {counted(found['performances'], 'performance')} shown on both, accuracy (averaged"
            f" over the characters of each) is {found['misaligned']:.1%} on misleading backgrounds"
            f" and {found['aligned']:.1%} on fitting ones: a difference of"
            f" {_points(found['difference'])}{_span(found)}."
            + _verdict(found))


def _verdict(found: Table) -> str:
    """Return whether the answers rely on the background, with p; empty with too few actions."""
    if found["p"] is None:
        return ""
    tested = (f"({found['test']}: p = {found['p']:.2g}, not among the comparisons that Holm's"
              " method corrects)")
    if found["p"] < 1 - LEVEL:
        return f" The answers rely on the background {tested}."
    largest = max(map(abs, found["interval"])) if found["interval"] else None
    return f" Whether the answers rely on the background is undecided {tested}" + (
        "." if largest is None else f"; up to {100 * largest:.1f} points are not excluded.")


def _points(difference: float) -> str:
    return f"{100 * difference:+.1f} points"


def _span(found: Table) -> str:
    interval = found["interval"]
    if not interval:
        return f" ({NO_INTERVAL})"
    return f" (95 %: {100 * interval[0]:+.1f} to {100 * interval[1]:+.1f})"


def _sentence(start: str, middle: str, needed: str | None = None) -> Callable[[Table], str]:
    """Return how a control is worded; ``needed`` is what questions need if it is less accurate."""
    def sentence(found: Table) -> str:
        shown = found["interval"] is not None and found["interval"][0] > 0
        return (f"{start} it is right in {found['accuracy']:.1%}, {middle} in {found['full']:.1%}:"
                f" a difference of {_points(found['difference'])}{_span(found)}."
                + ("" if needed is None or shown else
                   f" This does not show that the questions need {needed}."))

    return sentence


_MEANINGS: dict[str, Callable[[Table], str]] = {
    TEXT: _sentence("Without the video", "with it", "the video"),
    FRAME: _sentence("From a single frame", "from all frames", "more than one frame"),
    SHUFFLED: _sentence("With frames in random order", "in the right order", "the order of frames"),
    REVERSED: _sentence("With frames in reversed order", "in the right order",
                        "the direction of time"),
    BACKGROUND: _sentence("From the background without the person", "from the whole clip"),
    PERSON: _sentence("From the person on a blank background", "on the clip's own background"),
    DOTS: _sentence("From the movement as dots", "from the whole clip"),
}
