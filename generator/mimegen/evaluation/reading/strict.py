"""The single rule by which mimegen 0.1 read answers."""

import re
from collections.abc import Sequence
from string import ascii_uppercase

from mimegen.evaluation.reading.choice import STRICT, Choice
from mimegen.evaluation.reading.spoken import MARKS, plain_text

_STRICT_LINE = re.compile(r"(?:(?:final\s)?answer\s?(?:is|:)?|option)?[\W_]*([A-Z])"
                          r"(?:\s?[.):\]*]+\s?(?P<text>.*)|[\W_]*)$", re.IGNORECASE)
_STRICT_SAID = re.compile(r"(?i:answer\sis|answer\s?:|described\sby|\\boxed\{)(?i:\s?option)?"
                          r"[\s*_(\"'\[:]*([A-Z])(?![A-Za-z])(?!\s?(?:,|/|or|and)\s?[A-Z]\b)")


def read_strictly(output: str, options: Sequence[str]) -> Choice:
    """Return the option that an output chooses by the single rule of mimegen 0.1.

    The last line counts: a letter, perhaps with its option's text, or that text alone. If it is
    neither, every ``answer is B`` and ``described by option B`` must name the same letter.
    """
    lines = [line for line in output.splitlines() if line.strip(MARKS)]
    place = _strict_place(lines, [plain_text(option) for option in options]) if lines else None
    return Choice(place, None if place is None else STRICT)


def _strict_place(lines: Sequence[str], texts: Sequence[str]) -> int | None:
    """Return the index of the option that the strict rule reads; None if none or unclear."""
    last = " ".join(lines[-1].split())
    if plain_text(last) in texts:
        return texts.index(plain_text(last))
    match = _STRICT_LINE.fullmatch(_without_lead(last))
    letters = ascii_uppercase[:len(texts)]
    if match:
        return _strictly_agreed(letters.find(match[1].upper()), match["text"] or "", texts)
    stated = _STRICT_SAID.findall(" ".join(" ".join(lines).split()))
    letters_named = {letter.upper() for letter in stated}
    place = letters.find(letters_named.pop()) if len(letters_named) == 1 else -1
    return None if place < 0 else place


def _strictly_agreed(place: int, text: str, texts: Sequence[str]) -> int | None:
    """Return a letter's index, unless the text after it names another option."""
    rest = plain_text(text)
    if place < 0 or (rest in texts and texts[place] != rest):
        return None
    letters = [*ascii_uppercase[:len(texts)]]
    others = [word for word in text.split() if word.strip(MARKS) in letters]
    return place if rest in texts or not others else None


def _without_lead(text: str) -> str:
    """Return a text from its first letter or digit on."""
    first = re.search(r"[^\W_]", text)
    return text[first.start():] if first else ""
