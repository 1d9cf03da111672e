"""Questions about minimal pairs, and how often both halves of a pair are answered correctly.

If the halves differ in what is asked about, both get the same two options, and each option is right
once: answering without the clips, or only from what the halves share, gets one half wrong. If they
differ in something else (background, performer, angle, mirror), both ask which action they show,
with the options of ``mc``: the answer is the same, and both should be right.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mimegen.base.errors import RequestError
from mimegen.base.files import content_key
from mimegen.base.seeds import generator
from mimegen.base.yaml_file import read_yaml
from mimegen.evaluation.making import QuestionRequest, clip_fields, questions_of, versions
from mimegen.evaluation.question import Question, named_by_content
from mimegen.evaluation.sampling import FrameSampling, refuse_part
from mimegen.evaluation.scoring import ScoredAnswer
from mimegen.evaluation.subjects import (
    KnownAction,
    known_actions,
    people_count,
    subject_of_row,
)
from mimegen.evaluation.templates import FOLDER, TwoPeople, filled, read_templates
from mimegen.manifest.pair import PairFacts
from mimegen.manifest.row import Row
from mimegen.manifest.timeline import role_of

# Factors whose halves have different answers; for all other factors the action is asked for.
ANY_OTHER = "*"
CONTRASTED = ("action", "order", "target", "speed", "style", "repetitions", "fault", "hand",
              "agent", "emotion", "reversed")
# Factors whose questions are about all of a clip; they are not asked of a part of it.
OF_WHOLE = {"order", "repetitions"}
# Factors whose options are the labels of the halves.
LABELLED = ("action", "order")
# Placeholders in prompts: the step of the first of two people, the options, the clip's label.
STEP = "{step}"
OPTIONS = "{options}"
LABEL = "{label}"

# Both halves of a pair: their rows and the factor, value and name of the pair.
Pair = Sequence[tuple[Row, PairFacts]]


class PairWording(TwoPeople):
    """Prompts by factor, and option texts by factor and value."""

    about: str
    prompts: dict[str, str]
    values: dict[str, dict[str, str]]

    def prompt(self, factor: str) -> str:
        """Return the prompt of a factor. Raises RequestError if there is none."""
        if factor not in self.prompts:
            raise RequestError(f"the templates ({self.about}) have no prompt for the factor"
                               f" {factor}; add it under prompts")
        return self.prompts[factor]

    def text(self, factor: str, value: str) -> str:
        """Return the option text for a half's value."""
        texts = self.values.get(factor, {})
        return texts.get(value, texts.get(ANY_OTHER, value))


def read_pair_wording(file: Path | None) -> PairWording:
    """Return a user's wording, or mimegen's. Raises RequestError as ``read_yaml`` does."""
    return read_yaml(file or FOLDER / "pairs.yaml", PairWording)


def pair_questions(pairs: Sequence[Pair], wording: PairWording, seed: int,
                   sampling: FrameSampling | None = None, sampling_text: str = "video"
                   ) -> list[Question]:
    """Return one question for each half of every pair; ``pairs`` are those of ``whole_pairs``.

    If only a part of clips is shown, pairs of ``OF_WHOLE`` are left out.
    Raises RequestError if there are no pairs.
    """
    if not pairs:
        raise RequestError("no minimal pair is complete in these rows; sample pairs with mimegen"
                           " pairs and render them with --permutations")
    if all(pair[0][1].factor in OF_WHOLE for pair in pairs):
        refuse_part(sampling, sampling_text, "these pairs")
    if sampling is not None and sampling.is_part:
        pairs = [pair for pair in pairs if pair[0][1].factor not in OF_WHOLE]
    known = known_actions()
    contrasted = [pair for pair in pairs if pair[0][1].factor in CONTRASTED]
    same = [pair for pair in pairs if pair[0][1].factor not in CONTRASTED]
    made = [question for pair in contrasted
            for question in _contrasted(pair, known, wording, seed, sampling, sampling_text)]
    made += _same(same, seed, sampling, sampling_text)
    return named_by_content(made)


def whole_pairs(rows: Sequence[Row]) -> list[Pair]:
    """Return the pairs of which both halves have a row, in the order of their names."""
    found: dict[str, list[tuple[Row, PairFacts]]] = defaultdict(list)
    for row in rows:
        facts = (row.permutation or {}).get("pair")
        if facts is not None:
            half = _facts(row, facts)
            found[half.id].append((row, half))
    return [sorted(found[name], key=lambda half: half[1].value)
            for name in sorted(found) if len(found[name]) == 2]


def _facts(row: Row, content: Any) -> PairFacts:
    """Return the pair in a row's declaration. Raises RequestError if it is invalid."""
    try:
        return PairFacts.model_validate(content)
    except ValidationError as problem:
        raise RequestError(f"{row.sample_id}: permutation.pair: expected id, factor and value"
                           f" ({problem.errors()[0]['msg']}); render the pair again") from None


def _contrasted(pair: Pair, known: dict[str, KnownAction],
                wording: PairWording, seed: int, sampling: FrameSampling | None,
                sampling_text: str) -> list[Question]:
    """Return the questions of a pair whose halves have different answers."""
    factor = pair[0][1].factor
    # Both halves get the same wording, even if only one of them shows two people.
    people = max(people_count(row) for row, _ in pair)
    texts = [row.labels[0] if factor in LABELLED
             else wording.worded(wording.text(factor, half.value), people) for row, half in pair]
    order = [int(place) for place in generator(seed, "pairs", pair[0][1].id).permutation(2)]
    options = [texts[place] for place in order]
    named = _named(wording.worded(wording.prompt(factor), people), pair[0][0])
    prompt = filled(named, options)
    made = []
    for place, (row, half) in enumerate(pair):
        labels = row.labels if factor in LABELLED else [texts[place]]
        subject = subject_of_row(row, known, "label")
        made.append(Question(
            **clip_fields(row, seed), question_id=_question_id(half, row, seed), format="pair",
            prompt=prompt, question=named.partition(OPTIONS)[0].strip() or None,
            options=options, answer=texts[place], labels=labels,
            semantic_group=subject.group, asks=factor, pair=half.id, needs=half.needs,
            performance=subject.name, sampling=sampling_text,
            window=_window(row, sampling), frames=_frames(row, sampling),
            order=[0 if one == place else 1 for one in order],
            distractors=[{"text": texts[1 - place], "action": "", "origin": "pair"}],
            versions=versions(wording.about)))
    return made


def _named(prompt: str, row: Row) -> str:
    """Return a prompt with the clip's step and label filled in."""
    return prompt.replace(STEP, _step(row)).replace(LABEL, row.labels[0])


def _step(row: Row) -> str:
    """Return what the performer does and the partner does not; empty if they do the same."""
    role = role_of(row.timeline or ())
    return "" if role is None else role.name


def _question_id(half: PairFacts, row: Row, seed: int) -> str:
    return content_key("pair", half.factor, half.id, seed, row.sample_id)[:16]


def _window(row: Row, sampling: FrameSampling | None) -> list[float]:
    return sampling.window(row.frames, row.fps) if sampling else [0, row.frames / row.fps]


def _frames(row: Row, sampling: FrameSampling | None) -> list[int] | None:
    return sampling.frames(row.frames, row.fps) if sampling else None


def _same(pairs: Sequence[Pair], seed: int, sampling: FrameSampling | None, sampling_text: str
          ) -> list[Question]:
    """Return the questions of pairs whose halves show the same action."""
    half_of = {row.sample_id: half for pair in pairs for row, half in pair}
    if not half_of:
        return []
    asked = questions_of([row for pair in pairs for row, _ in pair], QuestionRequest(
        "mc", "label", "zero-shot", read_templates("mc", None), seed,
        sampling=sampling, sampling_text=sampling_text))
    return [question.model_copy(update={
        "format": "pair", "asks": half_of[question.sample_id].factor,
        "pair": half_of[question.sample_id].id,
        "question_id": content_key("pair", question.question_id)[:16]}) for question in asked]


def action_clusters(scored: Sequence[ScoredAnswer]) -> list[str]:
    """Return the action by which each answer is clustered, the same for both halves of a pair.

    Halves of a pair may have different actions, such as two steps in either order.
    """
    of_pair: dict[str, str] = {}
    for one in scored:
        if (pair := one.question.pair) is not None:
            of_pair[pair] = min(of_pair.get(pair, one.question.action), one.question.action)
    return [of_pair.get(str(one.question.pair), one.question.action) for one in scored]


def both_right(scored: Sequence[ScoredAnswer]) -> list[tuple[str, bool, float, str | None]]:
    """Return the pairs of which a model, or one rater, answered both halves.

    Each has its action, whether both answers are right, the chance level, and the rater.
    """
    halves: dict[tuple[str, str], dict[str, ScoredAnswer]] = defaultdict(dict)
    for one in scored:
        if one.question.pair is not None:
            halves[one.question.pair, one.rater or ""].setdefault(one.question.question_id, one)
    whole = [[*halves[name].values()] for name in sorted(halves) if len(halves[name]) == 2]
    return [(min(half.question.action for half in pair), all(half.right for half in pair),
             _guessed(pair), pair[0].rater) for pair in whole]


def _guessed(pair: Sequence[ScoredAnswer]) -> float:
    """Return the chance that two independent guesses are both right."""
    chances: list[Any] = [1 / len(half.question.options) for half in pair]
    return float(chances[0] * chances[1])
