"""The wording of questions: YAML files in ``wordings/``, or a user's own."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field

from mimegen.base.errors import RequestError
from mimegen.base.yaml_file import Strict, read_yaml

FOLDER = Path(__file__).parent / "wordings"
OF_FORMAT = {"mc": "mime", "free": "mime", "3afc": "actpld", "description": "actpld"}
# Number of options in questions of each format.
OPTIONS = {"mc": 4, "3afc": 3, "free": 0, "description": 0}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _with(*places: str) -> AfterValidator:
    def check(text: str) -> str:
        for place in places:
            if place not in text:
                raise ValueError(f"expected {place} in it, which stands for the"
                                 f" {place.strip('{}')}")
        return text

    return AfterValidator(check)


# Prompts with placeholders for a question, with and without options.
ChoicePrompt = Annotated[str, _with("{question}", "{options}")]
OpenPrompt = Annotated[str, _with("{question}")]


class TwoPeople(Strict):
    """``two_people``: replacements for a prompt's words about one person if a clip shows two."""

    two_people: dict[str, str] = Field(default={})

    def worded(self, prompt: str, people: int) -> str:
        """Return a prompt worded for so many people; of overlapping phrases the longest counts."""
        if people == 1 or not self.two_people:
            return prompt
        phrases = sorted(self.two_people, key=len, reverse=True)
        return re.sub(rf"\b(?:{'|'.join(map(re.escape, phrases))})\b",
                      lambda found: self.two_people[found[0]], prompt)


class Templates(TwoPeople):
    """Prompts by format, what is asked for (label, intention) and prompting.

    ``{options}`` stands for the lettered options. ``example`` follows an example's prompt, and
    ``examples`` are the actions preferred as examples.
    """

    about: str
    prompts: dict[str, dict[str, dict[str, str]]]
    example: str = "Answer: {answer}"
    examples: tuple[str, ...] = ()

    def wording(self, format_: str, asks: str, prompting: str) -> str:
        """Return a prompt's template. Raises RequestError, listing those there are, if missing."""
        found = self.prompts.get(format_, {}).get(asks, {}).get(prompting)
        if found is None:
            known = [f"{a} {p}" for a, texts in self.prompts.get(format_, {}).items()
                     for p in texts]
            raise RequestError(f"the templates ({self.about}) have no prompt for --format {format_}"
                               f" --asks {asks} --prompting {prompting}; available for {format_}:"
                               f" {', '.join(known) or 'none'}")
        if OPTIONS.get(format_) and "{options}" not in found:
            raise RequestError(f"the templates ({self.about}): {format_} {asks} {prompting}:"
                               " expected {options} in it, which stands for the options")
        return found


def read_templates(format_: str, file: Path | None) -> Templates:
    """Return a user's templates, or mimegen's for a format.

    Raises RequestError naming the file, line and key of the first error.
    """
    return read_yaml(file or FOLDER / f"{OF_FORMAT[format_]}.yaml", Templates)


def lettered(options: Sequence[str]) -> str:
    """Return options as lines ``A. first``, ``B. second``."""
    return "\n".join(f"{LETTERS[place]}. {option}" for place, option in enumerate(options))


def filled(template: str, options: Sequence[str]) -> str:
    """Return a prompt with its options filled in; all other braces are unchanged."""
    return template.replace("{options}", lettered(options))
