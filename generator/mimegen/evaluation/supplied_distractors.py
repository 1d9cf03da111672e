"""Wrong answers from the user: a file with a list of them for each action or label."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, RootModel

from mimegen.base.errors import RequestError, near_misses
from mimegen.base.seeds import generator
from mimegen.base.yaml_file import YamlFile
from mimegen.evaluation.distractors import Distractor
from mimegen.evaluation.embedding import similarities
from mimegen.evaluation.subjects import Subject

GIVEN = "given"


def _texts(wrong: tuple[str, ...]) -> tuple[str, ...]:
    cleaned = tuple(text.strip() for text in wrong)
    if not all(cleaned) or len({text.lower() for text in cleaned}) < len(cleaned):
        raise ValueError("expected distinct wrong answers that are not blank")
    return cleaned


class SuppliedDistractors(RootModel[dict[str, Annotated[tuple[str, ...], Field(min_length=1),
                                                        AfterValidator(_texts)]]]):
    """Wrong answers by an action's id or by one of its labels."""

    def of(self, subject: Subject) -> tuple[str, ...]:
        """Return a subject's wrong answers, without those that would be right; empty if none given.
        """
        names = {subject.action.lower(), *(text.lower() for text in subject.accepted)}
        right = {text.lower() for text in subject.accepted}
        lists = [wrong for key, wrong in self.root.items() if key.lower() in names]
        return tuple(text for wrong in lists[:1] for text in wrong if text.lower() not in right)


def read_given(path: Path, subjects: Sequence[Subject], options: int) -> SuppliedDistractors:
    """Read a YAML or JSON file ``{action or label: [wrong answers]}``.

    Raises RequestError for an invalid file, a key that is neither action nor label of any subject,
    and a list that is too short.
    """
    file = YamlFile(path)
    given = file.parsed(SuppliedDistractors)
    known = {name for one in subjects for name in (one.action, *one.accepted)}
    for key in given.root:
        if key.lower() not in {name.lower() for name in known}:
            raise file.error((key,), "no clip shows this action or has this"
                                     f" label{near_misses(key, known)}")
    for subject in subjects:
        wrong = given.of(subject)
        if wrong and len(wrong) < options - 1:
            raise RequestError(f"{path}: {subject.action}: expected {options - 1} wrong answers,"
                               f" found {len(wrong)}")
    return given


def given_distractors(subjects: Sequence[Subject], given: SuppliedDistractors, options: int,
                      seed: int
                      ) -> Mapping[str, tuple[Distractor, ...]]:
    """Return for each subject a random choice of its given wrong answers, as many as needed."""
    found = {}
    for subject in subjects:
        wrong = given.of(subject)
        if wrong:
            drawn = generator(seed, GIVEN, subject.name).permutation(len(wrong))[:options - 1]
            texts = [wrong[place] for place in drawn]
            near = similarities([subject.text], texts)[0]
            found[subject.name] = tuple(
                Distractor(text, "", GIVEN, float(value))
                for text, value in zip(texts, near, strict=True))
    return found
