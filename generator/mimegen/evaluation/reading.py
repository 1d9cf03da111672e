"""Which option a model chose: read by rules that would rather say nothing.

The standard library alone is imported: exports carry a copy of this file into harnesses.
"""

import re
from collections.abc import Sequence
from string import ascii_uppercase

_MARKS = " \t*_`'\"\u2018\u2019\u201c\u201d()[]{}<>.:;,!#$\\"
_LEADING = re.compile(r"^[\W_]*(?:(?:final\s+)?answer\s*(?:is|:)?|option)?[\W_]*([A-Z])"
                      r"(?:\s*[.):\]*]+\s*(?P<text>.*)|[\W_]*)$", re.IGNORECASE)
_SAID = re.compile(r"(?i:answer\s+is|answer\s*:|described\s+by|\\boxed\{)(?i:\s*option)?"
                   r"[\s*_(\"'\[:]*([A-Z])(?![A-Za-z])(?!\s*(?:,|/|or|and)\s*[A-Z]\b)")
_PREFIX = re.compile(r"^[\W_]*(?:final\s+)?answer\s*(?:is|:)\s*", re.IGNORECASE)


def chosen_option(output: str, options: Sequence[str]) -> int | None:
    """Return which option an output chooses; None where it does not say so in one way.

    The last line counts: a letter, perhaps with its option's text, or that text alone. Where it is
    neither, every ``answer is B`` and ``described by option B`` must name the same letter.
    """
    lines = [line for line in output.splitlines() if line.strip(_MARKS)]
    if not lines:
        return None
    last = lines[-1].strip()
    texts = [_plain(option) for option in options]
    if _plain(last) in texts:
        return texts.index(_plain(last))
    match = _LEADING.fullmatch(last)
    if match:
        return _agreed(match[1], match["text"] or "", texts)
    said = {letter.upper() for letter in _SAID.findall(output)}
    return _place(said.pop(), len(texts)) if len(said) == 1 else None


def final_phrase(output: str) -> str:
    """Return the last line of an output without marks and without ``Answer:``."""
    lines = [line for line in output.splitlines() if line.strip(_MARKS)]
    return _PREFIX.sub("", lines[-1]).strip(_MARKS) if lines else ""


def _agreed(letter: str, text: str, texts: list[str]) -> int | None:
    """Return a letter's place, unless the text behind it names another one."""
    place = _place(letter.upper(), len(texts))
    rest = _plain(text)
    if place is None or not rest:
        return place
    if rest in texts:
        return place if texts[place] == rest else None
    letters = ascii_uppercase[:len(texts)]
    others = [word for word in text.split() if word.strip(_MARKS) in [*letters]]
    return None if others else place


def _place(letter: str, count: int) -> int | None:
    # Ignoring case, [A-Z] also finds letters of other alphabets, as the Kelvin sign.
    place = ascii_uppercase.find(letter)
    return place if 0 <= place < count else None


def _plain(text: str) -> str:
    return " ".join(text.lower().strip(_MARKS).split())


def exactly_right(output: str, options: Sequence[str], answer: str, labels: Sequence[str]) -> bool:
    """Return whether an output chooses the answer or, without options, ends in a label's words.

    What harnesses show: ``mimegen evaluate`` compares free answers by their meaning.
    """
    if options:
        return chosen_option(output, options) == options.index(answer)
    return _plain(final_phrase(output)) in [_plain(label) for label in labels]
