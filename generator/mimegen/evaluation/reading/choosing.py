"""Read which option a model chose, as people would; when in doubt, read none.

First, text that is not meant for the reader is removed: reasoning in tags and tokens of chat
templates. Then the first of these rules that finds an option decides:

1. a field of JSON, tags around the answer, or a box around it;
2. the last clear statement that names a letter (``the answer is B``), including a line of just a
   letter, in sixteen languages;
3. the letter that the answer begins with, or that is in brackets;
4. an option's own words, if exactly one option's words occur.

Statements that are negated, doubted or asked, and those that go through a list of options, do not
count. All rules take time linear in the length of the output.
"""

import re
from collections.abc import Sequence

from mimegen.evaluation.reading.choice import LETTER, MARKED, WORDS, Choice
from mimegen.evaluation.reading.deciding_words import ANNOUNCED
from mimegen.evaluation.reading.options import Options
from mimegen.evaluation.reading.spoken import TURN, final_phrase, last_turn, plain_text, written
from mimegen.evaluation.reading.statements import (
    CHOICE,
    CONFLICT,
    DENY,
    DOUBT,
    MENTION,
    events_of,
    told,
)

_FENCE = re.compile(r"```[A-Za-z]{0,12}")
_KEYS = (r"(?:final|correct|predicted|selected|best|chosen|my)?[ _-]?(?:answer|choice|option|letter"
         r"|prediction|label|selection)(?:[ _-]?(?:letter|choice|option|text))?")
_FIELD = re.compile(rf"[\"'](?:{_KEYS})[\"']\s{{0,9}}:\s{{0,9}}"
                    r"(?:\[([^\[\]\n]*)\]|\"([^\"\n]*)\"|'([^'\n]*)'|([A-Za-z0-9]{1,9})\b)",
                    re.IGNORECASE)
_TAGGED = re.compile(r"<(answer|final_answer|final|ans|option|choice|response)>([^<>]*)(?:</\1>|$)",
                     re.IGNORECASE)
_LATEX = re.compile(r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathit|mathsf|operatorname)"
                    r"\s?\{([^{}]*)\}|\\(?:bf|rm|it|sf)\s?(?:\{([^{}]*)\}|(?=[A-Z]\b))")
_BOXED = re.compile(r"\\(?:f?boxed|fbox)\s?(?:\{{1,2}([^{}]*)\}|([A-Z])\b)")


def read_choice(output: str, options: Sequence[str]) -> Choice:
    """Return the option that an output chooses, and the rule that found it.

    Models that are not tuned for conversations continue with a question of their own, whose answer
    does not count.
    """
    known, text = Options(options), written(output)
    turn = TURN.search(text)
    own = _read(last_turn(text[:turn.start()]), known) if turn else Choice()
    return _read(last_turn(text), known) if own.place is None else own


def chosen_option(output: str, options: Sequence[str]) -> int | None:
    """Return the index of the option that an output chooses; None if unclear."""
    return read_choice(output, options).place


def exactly_right(output: str, options: Sequence[str], answer: str, labels: Sequence[str]) -> bool:
    """Return whether an output chooses the answer or, without options, ends in a label's words.

    Harnesses show this; ``mimegen evaluate`` compares free answers by meaning instead.
    """
    if options:
        return chosen_option(output, options) == options.index(answer)
    return plain_text(final_phrase(output)) in [plain_text(label) for label in labels]


def _read(text: str, options: Options) -> Choice:
    """Return the choice in an answer's field, tags or box if there are any, else in the text.

    If JSON fields are marked, all of them must agree.
    """
    text = _LATEX.sub(lambda found: found[1] or found[2] or "", text)
    marked = _marked(text)
    if marked:
        place = _read_whole(marked[-1], options).place
        agreed = {_read_whole(one, options).place for one in marked} if _FIELD.search(text) \
            else {place}
        return Choice(place, MARKED) if place is not None and len(agreed) == 1 else Choice()
    return _read_whole(_FENCE.sub(" ", text), options)


def _marked(text: str) -> list[str]:
    """Return the contents of an answer's tags, boxes or fields."""
    tagged = [found[2] for found in _TAGGED.finditer(text) if found[2].strip()]
    boxed = [one for found in _BOXED.finditer(text) if (one := found[1] or found[2] or "").strip()]
    fields = [next(filter(None, found.groups()), "") for found in _FIELD.finditer(text)]
    return tagged or boxed or [one for one in fields if one]


def _read_whole(text: str, options: Options) -> Choice:
    """Return the choice in a text by the rules after ``MARKED``."""
    exact = options.exact(ANNOUNCED.sub("", text))
    if exact is not None:
        return Choice(exact, WORDS)
    text = options.without_letters(text)
    events = events_of(text, options)
    stated = [one for one in events if one.kind == CHOICE]
    stated = [one for one in stated if one.weight] or stated
    if stated:
        last = stated[-1]
        later = events[len(events) - events[::-1].index(last):]
        doubted = any(one.kind == DOUBT and one.letters - last.letters for one in later)
        # After an outright answer, words about another option are rarely a change of mind.
        doubted |= any(one.weight > last.weight and one.letters != last.letters for one in stated)
        return Choice() if doubted else Choice(options.place(min(last.letters)), last.rule)
    if any(one.kind == CONFLICT for one in events):
        return Choice()
    mentioned = [one for one in events if one.kind == MENTION]
    meant = {letter for one in events if one.kind != DENY for letter in one.letters}
    if len(meant) == 1 and mentioned:
        return Choice(options.place(min(mentioned[0].letters)), LETTER)
    place = options.last_line(text)
    if place is None:
        place = options.only_named(told(text, options))
    return Choice(place, None if place is None else WORDS)
