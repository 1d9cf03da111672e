"""Read which option a model chose, as people would; see ``choosing`` for the rules.

All modules here need only the standard library, because exports copy them into harnesses as one
file.
"""

from mimegen.evaluation.reading.choice import (
    LETTER,
    MARKED,
    RULES,
    STATED,
    STRICT,
    WORDS,
    Choice,
)
from mimegen.evaluation.reading.choosing import chosen_option, exactly_right, read_choice
from mimegen.evaluation.reading.spoken import final_phrase, spoken
from mimegen.evaluation.reading.strict import read_strictly

__all__ = ["LETTER", "MARKED", "RULES", "STATED", "STRICT", "WORDS", "Choice", "chosen_option",
           "exactly_right", "final_phrase", "read_choice", "read_strictly", "spoken"]
