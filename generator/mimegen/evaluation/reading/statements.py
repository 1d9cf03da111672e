"""What the sentences of an answer say about letters."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from mimegen.evaluation.reading.choice import LETTER, STATED
from mimegen.evaluation.reading.deciding_words import (
    AGAIN,
    ALTERNATIVE,
    CONDITION,
    DENIAL,
    DENIED_AFTER,
    HEDGE,
    IF,
    NAMES,
    NOUNS,
    OUTRIGHT,
    STRONG,
    UNSURE,
    WEAK,
    any_case,
)
from mimegen.evaluation.reading.options import LONE, NEAR, Options, affirmed, letter_of, letters_in
from mimegen.evaluation.reading.sentences import QUOTES, Sentence, clauses_of, sentences_of
from mimegen.evaluation.reading.spoken import MARKS, plain_text

_SAYS_NO = re.compile(r"(?i:[:\-\u2013\u2014,]\s?(?:no|nein|non)\b)")
# Words that may follow a letter directly: "C because", "A, as".
_REASON = any_case(r"(?:because|since|as|it|given|based|due)\b")
_COORDINATED = any_case(r"(?:or|and(?! not\b)|oder|und|ou|et|o|y)\b|[/&]")
# Further letters after the first: "A, B and D are wrong".
_ENUMERATED = re.compile(r"[,、] ?[A-Z](?![A-Za-z0-9]).")
# Another option after the first, on one line: "A: 0.2, B: 0.8".
_FURTHER = re.compile(r"[\s,;(\[\"']([A-Z])[\"')\]]{0,2}\s?[:)=]")
_NOT_ANOTHER = any_case(r"(?:(?:but |and )?not|rather than|instead of|unlike)"
                        r" (?:option )?\(?[A-Z]\b")
# At a sentence's end, in brackets or after a mark: "boxing (C)", "in my opinion, C".
_AT_END = re.compile(rf"(?:(?:\(|^\W{{0,4}})(?i:(?:option|choice|answer|letter)\s|(?:{NOUNS})\s?)?"
                     r"|[:=|>/→-]\s?)[A-Z][\W_]{0,6}$")
# Announces that the options are gone through: "Let's consider each option:".
_GOES_THROUGH = any_case(
    r"\b(?:(?:each|every)(?: \w+){0,2} (?:option|choice|answer|possibility)"
    r"|(?:all|the|these|analy\w+|evaluat\w+|examin\w+)(?: \w+){0,2}"
    r" (?:options|choices|possibilities))\b"
    r"(?:(?!\b(?:is|best|fits|answer)\b)[^.!?,]){0,40}[:：][\W_]*$"
    r"|\b(?:one by one|in turn|nacheinander)\b|(?:逐一|逐个|一一|分析)[^。]{0,12}[:：][\W_]*$"
    r"|\b(?:die|les|las|le|as|alle|jede\w*|chaque|cada|ogni) (?:\w+ )?"
    r"(?:optionen|option|opciones|opción|opções|opção|opzioni)\b[^.!?]{0,40}[:：][\W_]*$")
_LEADING = re.compile(
    r"(?:[^\w\n]{0,8}\d{1,2}[.)]\s)?[^\w\n]{0,8}(?:_{1,3})?"
    rf"(?:(?i:{NAMES})(?:\s(?i:is)\b)?[^\w\n]{{0,8}}"
    r"|(?P<other>\w{1,20}(?:\s\w{1,20}){0,2})\s?[:=]\s?)?"
    r"(?P<letter>[A-Z]|[a-z](?=[.):]|[\W_]*$))(?![^\W_]|['’&]\w|-\w|[#+])"
    r"(?P<gap>(?:(?!-\d)[^\w\n]){0,8}_{0,3})(?P<rest>.*)", re.DOTALL)
# Kinds of events: a choice of one letter; several letters together; a letter in a question; a
# denied one; a letter by itself; a letter in passing.
CHOICE, CONFLICT, DOUBT, DENY, MENTION, _NAMED = range(6)


@dataclass(frozen=True)
class _Event:
    """What a clause says about letters.

    The weight of a choice is 2 if it is stated outright, 1 if words only suggest it, and 0 if it
    is what would be chosen if something else were so.
    """

    kind: int
    letters: frozenset[str]
    rule: str = STATED
    weight: int = 2


def told(text: str, options: Options) -> list[str]:
    """Return the sentences of a text, without those that go through a list of options."""
    sentences = [*sentences_of(text)]
    leads = [_lead_of(one, options) for one in sentences]
    listed = _is_list([lead for lead in leads if lead]) or _is_announced(sentences)
    return [one.text for one, lead in zip(sentences, leads, strict=True) if not (lead and listed)]


def events_of(text: str, options: Options) -> list[_Event]:
    """Return what the sentences of a text say about letters, in order."""
    sentences = [*sentences_of(text)]
    leads = [_lead_of(one, options) for one in sentences]
    listed = _is_list([lead for lead in leads if lead]) or _is_announced(sentences)
    alone = _run_of_letters(leads)
    events: list[_Event] = []
    for number, (sentence, lead) in enumerate(zip(sentences, leads, strict=True)):
        if number in alone or (lead and lead.rest and listed):
            events.append(_Event(CONFLICT if number in alone else DENY,
                                 frozenset(lead.letter if lead else ())))
        elif lead and (lead.certain or sentence.outer):
            events.append(_of_lead(lead, options))
        else:
            events += _of_sentence(sentence.text, options)
    return events


@dataclass(frozen=True)
class _Lead:
    """The letter that begins a line, the text after it, and whether it is surely the choice."""

    letter: str
    rest: str
    gap: str
    certain: bool


def _lead_of(sentence: Sentence, options: Options) -> _Lead | None:
    """Return the letter that begins a line and is not a word; None without one."""
    begins = sentence.begins_line or len(_stripped(sentence.text)) == 1
    found = _LEADING.match(sentence.text) if begins else None
    if found is None or sentence.text.rstrip(QUOTES).endswith("?"):
        return None
    letter, gap, rest = found["letter"].upper(), found["gap"].strip(" _"), _stripped(found["rest"])
    before = sentence.text[:found.start("letter")]
    if (UNSURE.search(before) and not LONE.search(before)) or _ENUMERATED.match(gap + rest):
        return None
    if letter == "A" and ":" in gap and re.fullmatch("[B-Z]", rest):
        return _Lead(rest, "", gap, certain=True)  # of Q: and A:
    place = options.place(letter)
    text = "" if place is None else options.texts[place]
    follows = bool(text) and plain_text(rest).startswith(text)
    if rest and (found["other"] or not (gap or follows or (
            found["letter"].isupper() and _REASON.match(rest)))):
        return None
    return _Lead(letter, rest, gap, not rest or plain_text(rest) == text)


def _stripped(text: str) -> str:
    """Return a text from its first to its last letter or digit, with a number's minus sign."""
    words = [*re.finditer(r"(?:(?<!\w)-(?=\d))?[^\W_]", text)]
    return text[words[0].start():words[-1].end()] if words else ""


def _is_list(leads: Sequence[_Lead]) -> bool:
    """Whether lines begin with different letters and continue, so that they list the options."""
    return len({lead.letter for lead in leads if lead.rest}) > 1


def _is_announced(sentences: Sequence[Sentence]) -> bool:
    """Whether a sentence says that the options will be gone through; it may break off after one."""
    return any(_GOES_THROUGH.search(one.text) for one in sentences[:-1])


def _run_of_letters(leads: Sequence[_Lead | None]) -> set[int]:
    """Return the indices of consecutive lines that are different single letters."""
    return {place for number, (one, other) in enumerate(pairwise(leads)) if one and other
            and not one.rest and not other.rest and one.letter != other.letter
            for place in (number, number + 1)}


def _of_lead(lead: _Lead, options: Options) -> _Event:
    """Return what a line that begins with a letter says: its choice, unless the rest objects."""
    own, letters = options.place(lead.letter), frozenset(lead.letter)
    if own is None or _COORDINATED.match(lead.rest) or ("/" in lead.gap and len(lead.rest) == 1):
        return _Event(CONFLICT, letters)
    first, *_ = [*clauses_of(lead.rest), ""]
    if _NOT_ANOTHER.match(lead.rest):
        first = ""
    rest = options.after(lead.letter, lead.rest)
    said = f" {first}" if rest == lead.rest else next(iter(clauses_of(rest)), "")
    if DENIED_AFTER.match(said) or _SAYS_NO.search(f"{lead.gap}{rest[:NEAR]}"):
        return _Event(DENY, letters)
    named = options.named(first)
    beside = {letter_of(one) for one in affirmed(first, letters_in(first, options))}
    others = beside.union(*(event.letters for event in _of_sentence(lead.rest, options)
                            if event.kind == CHOICE)) - letters
    further = {one[1] for one in _FURTHER.finditer(lead.rest)} - letters
    if others or further or (named and own not in named):
        return _Event(CONFLICT, letters | others)
    return _Event(CHOICE, letters, STATED if lead.certain else LETTER)


def _of_sentence(sentence: str, options: Options) -> Iterator[_Event]:
    """Yield what each clause of a sentence says about letters."""
    asked = sentence.rstrip(QUOTES).endswith("?") or ALTERNATIVE.match(sentence)
    denied = conditional = False
    for clause in clauses_of(sentence):
        found = letters_in(clause, options)
        again = denied and AGAIN.match(clause)
        denied = bool(again or DENIAL.search(clause))
        conditional |= bool(CONDITION.search(clause))
        letters = frozenset(letter_of(one) for one in found)
        if not letters:
            continue
        kept = frozenset(map(letter_of, () if again else affirmed(clause, found, options)))
        if not kept:
            yield _Event(DENY, letters)
        elif asked or HEDGE.search(clause) or (conditional and IF.search(clause)):
            yield _Event(DOUBT if asked else DENY, kept)
        else:
            yield _of_clause(clause, [one for one in found if letter_of(one) in kept], options)


def _of_clause(clause: str, found: Sequence[re.Match[str]], options: Options) -> _Event:
    """Return what a clause says about its letters: a choice if it has a cue for a single one."""
    letters = frozenset(map(letter_of, found))
    if len(letters) > 1:
        return _Event(CONFLICT, letters)
    place = options.place(letter_of(found[0]))
    named = options.named(clause[found[-1].end():])
    if place is None or (named and place not in named):
        return _Event(CONFLICT, letters)
    if STRONG.search(clause) or any(_leads_to(clause, one) for one in found):
        return _Event(CHOICE, letters, weight=_weight(clause, found[0]))
    return _Event(MENTION if _AT_END.search(clause) else _NAMED, letters)


def _weight(clause: str, letter: re.Match[str]) -> int:
    """Return the weight of a choice in a clause; see ``_Event``."""
    if IF.search(clause):
        return 0
    before = clause[max(letter.start() - NEAR, 0):letter.start()]
    ends = not clause[letter.end():].strip(MARKS)
    return 2 if OUTRIGHT.search(before) or (ends and WEAK.search(before)) else 1


def _leads_to(clause: str, letter: re.Match[str]) -> bool:
    """Whether the words directly before a letter say that it is the answer."""
    return bool(WEAK.search(clause[max(letter.start() - NEAR, 0):letter.start()]))
