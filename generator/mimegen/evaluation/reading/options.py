"""A question's options, found in a text by their letters and by their words."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from string import ascii_uppercase

from mimegen.evaluation.reading.deciding_words import (
    ANNOUNCED,
    CONCLUDES,
    DENIAL,
    DENIED_AFTER,
    HEDGE,
    VERB,
)
from mimegen.evaluation.reading.sentences import COMMAS, QUOTES, clauses_of
from mimegen.evaluation.reading.spoken import MARKS, normal, plain_text

# A capital letter by itself in an option, as in "vitamin C".
_CAPITAL = re.compile(r"\b[A-Z]\b")
# In characters. In longer texts, options of one or two letters are looked for only in the first
# word.
_SHORT = 120
# Number of characters around a letter that are considered.
NEAR = 80
# A clause with more single letters is not a sentence.
_MOST_LETTERS = 60
# A letter stands alone: no other letter, digit or apostrophe next to it, and not as in "C-shaped".
LONE = re.compile(
    r"(?<![A-Za-z0-9À-ԯ'’&.])(?<!\w-)(?:[A-Z]|(?<=[(\[])[a-z](?=[)\]])|[АВСЕ])"
    r"(?![A-Za-z0-9À-ԯ'’&#+]|-\w|\.\w)")
_CYRILLIC = {"А": "A", "В": "B", "С": "C", "Е": "E"}
# Letters that are also words: the article, the pronoun, prepositions.
_ARE_WORDS = "AIEOYАВС"

# What precedes "yes" or "no" that is stated.
_STATES = r"\b(?:answer|answer (?:is|would be)|i(?: would|['\u2019]d| will|['\u2019]ll)? say)\b"
# What follows "yes" or "no" that answers: marks, or who or what does it; not "no video".
_ANSWERING = (r"(?=[\s*_\"']*(?:$|[.,;:!(\u2013\u2014-])|\s(?:the|they|it|he|she|his|her|their"
              r"|there|this|that|both|neither|because|since|as|i|we|at|in|not)\b)")
# A refusal for lack of a video.
_NO_MEDIA = re.compile(
    r"\b(?:can(?:not|['\u2019]t)|unable|(?:do not|don['\u2019]t) have)\b.{0,30}"
    r"\b(?:video|videos|image|images|frames|clip|file|media)\b")


class Options:
    """Options, found by their letters and by their words."""

    def __init__(self, options: Sequence[str]) -> None:
        self.count = len(options)
        self.letters = ascii_uppercase[:len(options)]
        self.texts = [plain_text(normal(option)) for option in options]
        # Longer ones first, because one option's words may contain another's.
        self._heads = [COMMAS.split(text)[0] for text in self.texts]
        self._bare = [COMMAS.sub("", text) for text in self.texts]
        ranked = sorted({text for text in self._bare if text}, key=lambda text: (-len(text), text))
        any_one = "|".join(map(_whole_words, ranked))
        self._named = re.compile(rf"(?<!\w)(?<!\w-)(?:{any_one})(?!\w)") if ranked else None
        with_letters = [re.escape(text.strip()) for text in options if _CAPITAL.search(text)]
        self._with_letters = re.compile("|".join(with_letters), re.IGNORECASE
                                        ) if with_letters else None

    def place(self, letter: str) -> int | None:
        """Return a letter's index; None for a letter that no option has."""
        place = ascii_uppercase.find(letter)
        return place if 0 <= place < self.count else None

    def after(self, letter: str, text: str) -> str:
        """Return a text without the words of a letter's own option, or a clause, at its start."""
        place = self.place(letter)
        own = "" if place is None else self.texts[place]
        found = own and (re.match(rf"[\W_]{{0,9}}{re.escape(own)}(?!\w)", text, re.IGNORECASE)
                         or re.fullmatch(rf"[\W_]{{0,9}}{re.escape(COMMAS.split(own)[0])}[\W_]*",
                                         text, re.IGNORECASE))
        return text[found.end():] if found else text

    def exact(self, text: str) -> int | None:
        """Return the index of the option that a text equals; None for another or an ambiguous one.

        A single letter is an option's letter, even if it is also the text of another one.
        """
        plain = plain_text(text)
        if len(plain) == 1 and plain.upper() in self.letters:
            return None
        return self.texts.index(plain) if plain and self.texts.count(plain) == 1 else None

    def without_letters(self, text: str) -> str:
        """Return a text in which letters within options are lower case, as in "vitamin C"."""
        return self._with_letters.sub(lambda found: found[0].lower(), text
                                      ) if self._with_letters else text

    def last_line(self, text: str) -> int | None:
        """Return the index of the option that the last line equals, perhaps after ``Answer:``."""
        return self.exact(ANNOUNCED.sub("", text[text.rfind("\n") + 1:]))

    def named(self, clause: str) -> list[int]:
        """Return the indices of the options whose words occur in a clause that does not deny them.
        """
        lowered = " ".join(clause.lower().split())
        found = self._named.finditer(lowered) if self._named else ()
        return [self._bare.index(one[0]) for one in affirmed(lowered, found)]

    def only_named(self, sentences: Sequence[str]) -> int | None:
        """Return the only option whose words occur in sentences, or else in their conclusion."""
        if self._is_yes_or_no():
            return self._yes_or_no(sentences)
        if sum(map(len, sentences)) <= _SHORT or not self._is_brief():
            found = self._named_in(sentences)
        else:
            found = self._first_word(" ".join(sentences))
        if len(found) != 1:
            last = sentences[-1:]
            found = self._named_in(last) if last and CONCLUDES.search(last[0]) else set()
        return found.pop() if len(found) == 1 else None

    def _named_in(self, sentences: Sequence[str]) -> set[int]:
        clauses = [clause for sentence in sentences if not sentence.rstrip(QUOTES).endswith("?")
                   for clause in clauses_of(self._without_commas(sentence))]
        return {place for clause in clauses if not HEDGE.search(clause)
                for place in self.named(clause)}

    def _without_commas(self, sentence: str) -> str:
        """Return a sentence in which the options' words hold no commas, which separate clauses."""
        for text, bare in zip(self.texts, self._bare, strict=True):
            if text != bare:
                sentence = sentence.lower().replace(text, bare)
        return sentence

    def _is_brief(self) -> bool:
        """Whether options are so short that their words also occur in texts by chance."""
        return any(len(text) < 3 for text in self.texts)

    def _is_yes_or_no(self) -> bool:
        return not {"yes", "no", "true", "false"}.isdisjoint(self._heads)

    def _yes_or_no(self, sentences: Sequence[str]) -> int | None:
        """Return the only answer that is stated, or else that begins sentences.

        ``No video was provided`` and ``No idea`` answer nothing.
        """
        heads = "|".join(re.escape(head) for head in self._heads if head)
        lowered = [text.lower() for text in sentences]
        stated = re.compile(rf"{_STATES}\W{{1,4}}({heads})\b(?! or\b)")
        begins = re.compile(rf"({heads})\b{_ANSWERING}")
        found = {one[1] for text in lowered for one in stated.finditer(text)} or {
            one[1] for text in lowered if not _NO_MEDIA.search(text)
            and (one := begins.match(text.lstrip(MARKS)))}
        places = [place for place, head in enumerate(self._heads) if head in found]
        return places[0] if len(found) == len(places) == 1 else None

    def _first_word(self, text: str) -> set[int]:
        first = re.split(r"[\s,.;:!]", text.strip(MARKS), maxsplit=1)[0]
        return {place for place, head in enumerate(self._heads) if head == first.lower()}


def _whole_words(text: str) -> str:
    """Return a pattern of an option's words; a number is not found within another number."""
    before = r"(?<![-.,\d])" if text[0].isdigit() else ""
    after = r"(?![-.,]?\d)" if text[-1].isdigit() else ""
    return f"{before}{re.escape(text)}{after}"


def affirmed(clause: str, found: Iterable[re.Match[str]], options: Options | None = None
              ) -> list[re.Match[str]]:
    """Return the matches in a clause that it does not deny, before or right after them.

    With ``options``, the matches are letters, and an option's own words deny nothing.
    """
    denial = DENIAL.search(clause)
    bound = denial.end() if denial else len(clause)
    return [one for one in found
            if one.start() < bound and clause[max(one.start() - 4, 0):one.start()].lower() != " no "
            and not DENIED_AFTER.match(
                options.after(letter_of(one), clause[one.end():]) if options
                else clause[one.end():])]


def letters_in(clause: str, options: Options) -> list[re.Match[str]]:
    """Return the letters that stand alone in a clause and are not words."""
    found = (one for one in LONE.finditer(clause) if not _is_word(clause, one, options))
    return [*islice(found, _MOST_LETTERS)]


def letter_of(found: re.Match[str]) -> str:
    """Return the letter that a match means, in Latin capitals."""
    return _CYRILLIC.get(found[0], found[0].upper())


def _is_word(clause: str, found: re.Match[str], options: Options) -> bool:
    """Whether a single letter is a word: an article before its noun, I, or a preposition."""
    if found[0] not in _ARE_WORDS:
        return False
    rest = clause[found.end():found.end() + NEAR]
    if not re.match(r"\s\w", rest):
        return False
    rest = rest.lstrip()
    place = options.place(letter_of(found))
    text = "" if place is None else options.texts[place]
    if text and plain_text(rest).startswith(text[:NEAR // 2]):
        return False
    return found[0] == "I" or not VERB.match(rest)
