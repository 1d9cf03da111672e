"""The prompt for writing an action, for a person or language model: language, words, examples."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import read_description, text_of
from mimegen.choreography.body import landmark_names, partner_landmarks
from mimegen.choreography.score import Arrival, HandKey
from mimegen.choreography.where import HELP
from mimegen.evaluation.embedding import similarities
from mimegen.library.catalogue import Catalogue
from mimegen.library.entry import SCORE_SUFFIX, Entry
from mimegen.library.naming import plain
from mimegen.library.score_take import read_score_once
from mimegen.motion.hand_shapes import hand_shapes

# Sections of the reference on writing scores; the others are on using them.
LANGUAGE = ("Phases", "Places and directions", "Hands", "Imagined things", "Feet, steps, walking",
            "What the engine adds", "Two performers", "Faces", "What happens when",
            "What must be seen", "Tips for readable actions", "action.yaml")
# Weights of an action's label and of its description when comparing meanings.
_WORDS = 0.7
_REST = 0.3
_TASK = """\
# Write an action for mimegen

Write the action "{name}", performed by {who}, as four files in a folder `mocap/{id}/`:
`action.yaml`, `{id}.score.yaml`, `{id}.checks.yaml` and `{id}.timeline.yaml`.

A viewer who is told nothing sees 16 frames of it, with no object in them, on any body and from
the camera that `facing` serves best, and is to name it. So perform it as a good mime would:

- The imagined thing is there: it has a size and a place, a hand that holds it keeps holding it,
  and where it is touched, it is touched at one place. Declare it under `props`.
- There is a beginning, a cause, a variation and an end. 5 to 9 seconds are usual.
- The moment that tells what it is lasts long enough to be among 16 frames, and comes twice.
- Hands leave the outline of the body as the camera sees it.

Then run `mimegen score lint --json {id}.score.yaml`, change what each finding names, and run it
again until it finds nothing; look at the sheet that `mimegen score preview` writes.
"""


def nearest_actions(catalogue: Catalogue, name: str, count: int, performers: int = 1
                    ) -> list[Entry]:
    """Return the actions closest in meaning to a name, the closest first.

    Only actions whose score has this number of performers are returned.
    """
    entries = list(catalogue.actions.values())
    wanted = [plain(name).replace("_", " ")]
    called = similarities(wanted, [one.action.labels[0] for one in entries])[0]
    seen = similarities(wanted, [one.action.recognised_by for one in entries])[0]
    order = np.argsort(-(_WORDS * called + _REST * seen), kind="stable")
    fitting = (entries[int(number)] for number in order
               if _performers(entries[int(number)]) == performers)
    return [entry for entry, _ in zip(fitting, range(count), strict=False)]


def _performers(entry: Entry) -> int:
    """Return the number of performers in an action's first take; 0 if it is not a score."""
    file = next(iter(entry.takes.values()), Path())
    return len(read_score_once(file).parts()) if file.name.endswith(SCORE_SUFFIX) else 0


def score_prompt(catalogue: Catalogue, name: str, examples: Sequence[Entry], performers: int
                 ) -> str:
    """Return the complete prompt for an action: task, language, words, examples and checks."""
    who = "two people" if performers > 1 else "one person"
    task = _TASK.format(name=name, id=plain(name), who=who)
    parts = [task, *_language(), _words(catalogue, performers), *map(_example, examples), _checks()]
    return "\n".join(part.strip() + "\n" for part in parts)


def _language() -> Iterator[str]:
    """Yield the reference's sections on how scores are written."""
    text = text_of(data_file("docs/reference/scores.md"))
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.M | re.S))
    for title in LANGUAGE:
        if title not in sections:
            raise RequestError(f"docs/reference/scores.md: has no section '{title}'")
        yield f"## {title}\n{sections[title]}"


def _words(catalogue: Catalogue, performers: int) -> str:
    """Return all words allowed in scores and ``action.yaml``, by kind."""
    kinds = {
        "landmarks": landmark_names(),
        "landmarks on the partner": partner_landmarks() if performers > 1 else (),
        "hand shapes": hand_shapes(),
        "touch": get_args(get_args(HandKey.model_fields["touch"].annotation)[0]),
        "how": get_args(Arrival),
        "semantic groups": catalogue.groups,
    }
    lines = [f"- {kind}: {', '.join(words)}" for kind, words in kinds.items() if words]
    sets = [f"  - {name}: {read_description(file)}" for name, file in catalogue.backgrounds.items()
            if "\nset:" in text_of(file)]
    return "\n".join(["## All words", "", *lines, "- backgrounds:", *sets])


def _example(entry: Entry) -> str:
    """Return the files of an action's first take and its description."""
    score = next(iter(entry.takes.values()))
    take = score.name.removesuffix(SCORE_SUFFIX)
    files = [entry.file, score, *(score.with_name(f"{take}.{kind}.yaml")
                                  for kind in ("checks", "timeline"))]
    shown = [f"`{file.name}`\n\n```yaml\n{text_of(file).strip()}\n```" for file in files
             if file.is_file()]
    return "\n\n".join([f"## Example: {entry.action.name}", *shown])


def _checks() -> str:
    """Return the findings of lint and their remedies."""
    lines = [f"- `{kind}`: {remedy}" for kind, remedy in HELP.items()]
    return "\n".join(["## What lint finds, and what helps", "", *lines])
