"""The option that an answer chooses, and the names of the rules that read it."""

from dataclasses import dataclass

MARKED = "marked"
STATED = "statement"
LETTER = "letter"
WORDS = "words"
STRICT = "strict"
# The names of the rules, in the order in which they are tried.
RULES = (MARKED, STATED, LETTER, WORDS)


@dataclass(frozen=True)
class Choice:
    """The index of the option that an output chooses, and the rule that read it; None for none."""

    place: int | None = None
    rule: str | None = None
