"""Decide for each model whether its score falls from seen clips to unseen ones."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.evaluation.contamination.answers import (
    Answers,
    Discordance,
    Falls,
    discordance_of,
    estimate,
    falls_of,
    pairs_of,
    rarer_count,
)
from mimegen.evaluation.contamination.balance import Balance, balances
from mimegen.evaluation.contamination.fall import Fall
from mimegen.evaluation.contamination.mixed import Mixed, mixed_logistic
from mimegen.evaluation.contamination.rows import ScoredRow, StudyArm
from mimegen.evaluation.statistics import (
    FEW_RARE,
    Interval,
    McNemar,
    cluster_bootstrap,
    clustered_share,
    holm,
)

# Significance level, after correction, of both tests.
ALPHA = 0.05
# With fewer actions the t distribution is so wide that hardly any fall is detected.
FEW_ACTIONS = 6
FALL = "fall"
SMALL_FALL = "small fall"
NO_FALL = "no fall"
RISE = "rise"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class Accuracy:
    """The accuracy in one arm, over ``n`` answers."""

    n: int
    value: float
    interval: Interval


@dataclass(frozen=True)
class Comparison:
    """Two arms compared; ``n`` counts each arm's answers with a counterpart in the other.

    ``rarer_count`` is the number of wrong or of right answers, whichever is smaller, in the arm
    with the fewest.
    """

    seen: Accuracy
    unseen: Accuracy
    n: tuple[int, int]
    actions: int
    fall: Fall
    bootstrap: Interval | None
    rarer_count: int

    @property
    def near_certainty(self) -> bool:
        """Whether the bootstrap interval covers too little to be quoted."""
        return self.rarer_count < FEW_RARE


@dataclass(frozen=True)
class Judged:
    """One model (or other group of ``by``): its comparison, the tests beside it and the verdict.

    ``pairs`` are actions and variants with one answer in each arm; ``discordance`` is over all
    answers. ``p`` (of no fall) and ``p_equal`` (of a fall as large as the margin) are corrected by
    Holm's method over the models. ``placebo`` compares unseen clips with other unseen ones.
    """

    name: str
    whole: Comparison
    variants: Sequence[tuple[str, Comparison]]
    pairs: McNemar | None
    discordance: Discordance | None
    mixed: Mixed | None
    placebo: Comparison | None
    p: float
    p_equal: float
    verdict: str


@dataclass(frozen=True)
class Report:
    """All findings; ``margin`` is the largest fall that would not matter, as a share."""

    seen: StudyArm
    unseen: StudyArm
    margin: float
    by: str
    judged: Sequence[Judged]
    balance: Sequence[Balance]
    warnings: Sequence[str]


def judge(seen: StudyArm, unseen: StudyArm, margin: float, by: str = "model",
          placebo: StudyArm | None = None) -> Report:
    """Compare the arms for each model that occurs in both.

    Raises RequestError if all unseen clips were seen, no model is in both arms, a model's arms
    share fewer than two actions, or all placebo clips are in another arm.
    """
    common = _common(seen, unseen)
    of_placebo = _placebo_common(placebo, (seen, unseen)) if placebo else []
    rows = [_grouped(arm, by) for arm in (seen, unseen)]
    fresh = _grouped(placebo, by) if placebo else {}
    names = sorted({*rows[0]} & {*rows[1]})
    if not names:
        raise RequestError(f"{seen.path} has {_some(rows[0])}, {unseen.path} has {_some(rows[1])}:"
                           f" they share no {by}")
    found = [_compared(name, rows[0][name], rows[1][name], fresh.get(name)) for name in names]
    balance = balances(seen, unseen)
    return Report(seen, unseen, margin, by, _with_verdicts(found, margin), balance, [
        *_one_sided(rows, (seen, unseen), by), *_model_warnings(found),
        *of_placebo, *(_missing_placebo(found, placebo, fresh) if placebo else []),
        *_arm_warnings(seen, unseen, common, balance)])


def _grouped(arm: StudyArm, by: str) -> dict[str, list[ScoredRow]]:
    """Return an arm's rows by the value of the field ``by``."""
    groups: dict[str, list[ScoredRow]] = {}
    for row in arm.rows:
        name = getattr(row, by, None)
        if name is None:
            raise RequestError(f"{arm.path}: the row of {row.sample_id} has no '{by}' to group by")
        groups.setdefault(str(name), []).append(row)
    return groups


def _some(names: Sequence[str] | dict[str, list[ScoredRow]]) -> str:
    listed = sorted(names)
    return ", ".join(listed[:4]) + (f" and {len(listed) - 4} more" if len(listed) > 4 else "")


def answers_of(seen: Sequence[ScoredRow], unseen: Sequence[ScoredRow]
               ) -> tuple[Answers, list[str], list[str]]:
    """Return the answers of both arms as numbers, with the names of actions and variants."""
    rows = [*seen, *unseen]
    actions, action = np.unique([row.action or "" for row in rows], return_inverse=True)
    variants, variant = np.unique([row.variant or "" for row in rows], return_inverse=True)
    score = np.array([float(row.correct) for row in rows])
    arm = np.arange(len(rows)) < len(seen)
    return Answers(score, arm, action, variant), actions.tolist(), variants.tolist()


def _compared(name: str, seen: Sequence[ScoredRow], unseen: Sequence[ScoredRow],
              fresh: Sequence[ScoredRow] | None) -> Judged:
    """Return a model's comparisons, with p values not yet corrected for the number of models."""
    # Sorted, so that the order of lines in the files does not change the result.
    ordered = [sorted(rows, key=lambda row: (row.sample_id, row.question_id or ""))
               for rows in (seen, unseen)]
    answers, actions, variants = answers_of(*ordered)
    falls = falls_of(answers)
    if len(falls.fall) < 2:
        raise RequestError(f"{name}: {len(falls.fall)} of {len(actions)} actions in both arms; a"
                           " standard error needs at least two, and a useful one about ten")
    whole = _comparison(answers, falls, name)
    return Judged(name, whole, _by_variant(answers, variants, name), pairs_of(answers),
                  discordance_of(answers), mixed_logistic(answers.where(falls.used)),
                  _placebo(name, ordered[1], fresh), whole.fall.p(), np.nan, UNDECIDED)


def _comparison(answers: Answers, falls: Falls, name: str) -> Comparison:
    """Return the comparison of the arms; ``name`` seeds its bootstrap."""
    used = answers.where(falls.used)
    seen, unseen = int(used.seen.sum()), int((~used.seen).sum())
    return Comparison(_accuracy(answers.arm(True)), _accuracy(answers.arm(False)), (seen, unseen),
                      len(falls.fall), estimate(answers, falls),
                      cluster_bootstrap(falls.fall, falls.weight, 0.95, name),
                      min(rarer_count(used.arm(arm).score) for arm in (True, False)))


def _accuracy(arm: Answers) -> Accuracy:
    right, asked = arm.by_action()
    return Accuracy(len(arm.score), float(arm.score.mean()), clustered_share(right, asked))


def _by_variant(answers: Answers, names: Sequence[str], model: str
                ) -> list[tuple[str, Comparison]]:
    """Return the comparison in each variant in which both arms share at least two actions."""
    found = []
    for number, name in enumerate(names):
        chosen = answers.where(answers.variant == number)
        if chosen.seen.all() or not chosen.seen.any():
            continue
        falls = falls_of(chosen)
        if len(falls.fall) > 1:
            found.append((name, _comparison(chosen, falls, f"{model} {name}")))
    return found


def _placebo(name: str, unseen: Sequence[ScoredRow], fresh: Sequence[ScoredRow] | None
             ) -> Comparison | None:
    if not fresh:
        return None
    answers, _, _ = answers_of(unseen, fresh)
    falls = falls_of(answers)
    return _comparison(answers, falls, f"{name} placebo") if len(falls.fall) > 1 else None


def _with_verdicts(found: Sequence[Judged], margin: float) -> list[Judged]:
    # Two hypotheses, no fall and a fall outside the margin, are each tested for all models and
    # corrected separately.
    ps = holm([judged.p for judged in found])
    equal = holm([judged.whole.fall.p_outside(margin) for judged in found])
    return [replace(judged, p=p, p_equal=same, verdict=_verdict(judged.whole.fall.value, p, same))
            for judged, p, same in zip(found, ps, equal, strict=True)]


def _verdict(fall: float, p: float, p_equal: float) -> str:
    """Return the verdict for a fall, its p, and the p of equivalence, both Holm-corrected."""
    # With many answers a fall can be both significant and significantly within the margin. Then it
    # is reported as a small fall.
    if p < ALPHA and fall > 0:
        return SMALL_FALL if p_equal < ALPHA else FALL
    if p_equal < ALPHA:
        return NO_FALL
    return RISE if p < ALPHA else UNDECIDED


def _one_sided(rows: Sequence[dict[str, list[ScoredRow]]], arms: tuple[StudyArm, StudyArm], by: str
               ) -> list[str]:
    return [f"{by} {name} occurs only in {arms[here].name} clips and is left out"
            for here in (0, 1) for name in sorted({*rows[here]} - {*rows[1 - here]})]


def _model_warnings(found: Sequence[Judged]) -> list[str]:
    """Return warnings about single models: few actions, unpaired answers, placebo, rise."""
    lines = []
    for judged in found:
        whole = judged.whole
        if whole.actions < FEW_ACTIONS:
            lines.append(f"{judged.name}: {whole.actions} actions in both arms; only a large fall"
                        f" that all of them share can be seen with fewer than {FEW_ACTIONS}")
        alone = whole.seen.n + whole.unseen.n - sum(whole.n)
        if alone:
            lines.append(f"{judged.name}: {alone} of {whole.seen.n + whole.unseen.n} answers have"
                        " no partner of the same action in the other arm and count in the"
                        " accuracies alone, not in the fall")
        if judged.placebo and judged.placebo.fall.p() < ALPHA:
            lines.append(f"{judged.name}: unseen clips differ from other unseen clips (placebo,"
                        f" p = {judged.placebo.fall.p():.3g}); a fall may be one of difficulty")
        if judged.verdict == RISE:
            lines.append(f"{judged.name}: unseen clips are easier than seen ones; the arms are not"
                        " of one difficulty, and a fall could hide in that")
    return lines


def _placebo_common(placebo: StudyArm, arms: Sequence[StudyArm]) -> list[str]:
    """Return warnings about placebo clips that are in another arm, too.

    Raises RequestError if all of them are.
    """
    common = [(arm, _common(arm, placebo)) for arm in arms]
    return [f"{len(clips)} of {len(placebo.samples())} placebo clips are in the {arm.name} arm too"
            f" (first {clips[0]}); the placebo must be other unseen clips"
            for arm, clips in common if clips]


def _missing_placebo(found: Sequence[Judged], placebo: StudyArm,
                     fresh: dict[str, list[ScoredRow]]) -> list[str]:
    """Return warnings about models that could not be compared with the placebo."""
    return [f"{judged.name}: not compared with the placebo {placebo.path}: "
            + ("fewer than two actions are also in the unseen clips" if judged.name in fresh
               else f"it has {_some(fresh)}")
            for judged in found if judged.placebo is None]


def _common(seen: StudyArm, unseen: StudyArm) -> list[str]:
    """Return the unseen arm's clips that are also in the seen arm, by name or content.

    Raises RequestError if all of them are.
    """
    files = {clip.sha256 for clip in seen.clips.values()}
    common = sorted(sample for sample in unseen.samples() if sample in seen.samples()
                    or (sample in unseen.clips and unseen.clips[sample].sha256 in files))
    if len(common) == len(unseen.samples()):
        raise RequestError(f"{unseen.path}: all of its clips ({len(common)}) are also in"
                           f" {seen.path}; expected answers about unpublished clips, such as"
                           " mimegen permute --unseen samples")
    return common


def _arm_warnings(seen: StudyArm, unseen: StudyArm, common: Sequence[str],
                  balance: Sequence[Balance]
                  ) -> list[str]:
    """Return warnings about both arms: common clips, missing actions, unbalanced factors."""
    lines = []
    if common:
        lines.append(f"{len(common)} of {len(unseen.samples())} unseen clips are in the seen arm"
                    f" too (first {common[0]}); nothing that was published is unseen")
    for here, there in ((seen, unseen), (unseen, seen)):
        alone = {row.action or "" for row in here.rows} - {row.action or "" for row in there.rows}
        if alone:
            lines.append(f"actions in {here.name} clips alone: {_some(sorted(alone))}")
    unknown = [arm.name for arm in (seen, unseen) if arm.samples() - {*arm.clips}]
    if unknown:
        lines.append(f"the manifest of {' and '.join(unknown)} clips is missing (--manifest DIR),"
                     " so it was not checked that both arms show alike people, views and"
                     " backgrounds, nor that no clip is in both under another name")
    lines += [f"the arms differ in {factor.factor}: {factor.seen} in seen clips, {factor.unseen} in"
             " unseen ones" for factor in balance if not factor.balanced]
    return lines
