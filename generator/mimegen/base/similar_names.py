"""Find the names that a misspelt or unknown word may stand for."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

# Words without meaning of their own.
_EMPTY = frozenset({
    "a", "an", "the", "and", "or", "of", "on", "in", "to", "at", "with", "from", "for", "by", "as",
    "like", "one", "s", "oneself", "play", "playing", "do", "doing", "make", "making", "have",
    "having", "use", "using", "actpld"})
# The words of a name: separated by anything but letters, or by a capital as in LeftHand.
_WORD = re.compile(r"\d+|[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
# Endings of English word forms, the longest first.
_ENDINGS = ("ings", "ing", "ed", "es", "er", "s", "e")
_MIN_STEM = 3  # in letters
# Similarity of two words that are equal; that are forms of one word; of which one is a typo of the
# other; of which one begins with the other.
_SAME = 1.0
_FORM = 0.95
_SLIP = 0.85
_BEGINS = 0.7
_MIN_BEGINNING = 4  # in letters
# Shortest words, in letters, in which one letter may be missing or added, and in which one may be
# replaced: if the whole name is compared, and if only a word of it is. Then the shortest word in
# which two letters may be wrong.
_MIN_LETTERS_WHOLE = (3, 6)
_MIN_LETTERS_WORD = (5, 7)
_MIN_OF_TWO = 7
# Spellings of the same sound, the longest first: boksing is boxing.
_SPELLINGS = (("cks", "x"), ("ks", "x"), ("ph", "f"), ("ck", "k"))
_VOWELS = str.maketrans("", "", "aeiou")
# Upper limit for the similarity of names that share only some words.
_PARTLY = 0.75
# Names below this fraction of the best similarity are not suggested.
_SHARE_OF_BEST = 0.4


def nearest(word: str, names: Iterable[str]) -> list[str]:
    """Return the names similar to a word, the most similar first; may be empty.

    Names are similar if one is a typo of the other, or if they share meaningful words in any form.
    Words with different first letters are different words: walking is not talking.
    """
    scored = sorted((-likeness(word, name), len(name), name) for name in {*names})
    best = -scored[0][0] if scored else 0.0
    least = best * (_SAME if best == _SAME else _SHARE_OF_BEST)
    return [name for score, _, name in scored if score < 0 and -score >= least]


def is_slip(word: str, name: str) -> bool:
    """Return whether a word is a name, except for a letter or two or the forms of its words."""
    return likeness(word, name) > _PARTLY


def likeness(word: str, name: str) -> float:
    """Return the similarity of a word and a name: 1 if they are equal, 0 if unrelated."""
    first, second = _words(word), _words(name)
    if not first or not second:
        return 0.0
    if len(first) == len(second):
        each = [_alike(*pair, _MIN_LETTERS_WHOLE) for pair in zip(first, second, strict=True)]
        if min(each) >= _SLIP:
            return sum(each) / len(each)
    return max(_joined(first, second), _PARTLY * _shared(first, second))


def stem(word: str) -> str:
    """Return the common part of an English word's forms, roughly: walk for walks or walker."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            word = word.removesuffix(ending)
            break
    if word.endswith("i"):
        return f"{word[:-1]}y"
    return word[:-1] if len(word) > _MIN_STEM and word[-1] == word[-2] else word


def stems(text: str) -> set[str]:
    """Return the stems of a text's meaningful words."""
    return {stem(word) for word in _meaning(_words(text))}


@lru_cache(maxsize=1 << 14)
def _words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(_HUMP.sub(" ", text)))


def _meaning(words: Sequence[str]) -> Sequence[str]:
    """Return the meaningful words; all words if none is."""
    return [word for word in words if word not in _EMPTY] or words


def _joined(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the similarity of names that differ in where words are separated: basket ball."""
    if len(first) == len(second):
        return 0.0
    alike = _alike("".join(first), "".join(second), _MIN_LETTERS_WHOLE)
    return alike if alike >= _SLIP else 0.0


def _shared(first: Sequence[str], second: Sequence[str]) -> float:
    """Return the fraction of meaningful words that two names share."""
    first, second = _meaning(first), _meaning(second)
    alike = sum(max(_alike(one, other, _MIN_LETTERS_WORD) for other in second)
                for one in first)
    return alike * 2 / (len(first) + len(second))


@lru_cache(maxsize=1 << 16)
def _alike(first: str, second: str, least: tuple[int, int]) -> float:
    """Return the similarity of two words."""
    if first == second:
        return _SAME
    shorter, longer = sorted((first, second), key=len)
    if not shorter.isalpha() or not longer.isalpha():
        return 0.0
    if stem(first) == stem(second):
        return _FORM
    if _is_slip(first, second, least):
        return _SLIP
    begins = len(shorter) >= _MIN_BEGINNING and longer.startswith(shorter)
    return _BEGINS if begins else 0.0


def _is_slip(first: str, second: str, least: tuple[int, int]) -> bool:
    """Return whether one word is a typo of the other: a letter or two, but not the first.

    ``least`` are the letters needed, without a common ending, for a missing or added letter, and
    for a replaced one, which could make another word: clapping is not clasping. A vowel may be
    replaced in a word of four letters, and all vowels may be missing.
    """
    if first[0] != second[0] and first[:2] != second[1::-1]:
        return False
    if _sound(first) == _sound(second):
        return True
    ending = next((one for one in ("ing", "ed", "s")
                   if first.endswith(one) and second.endswith(one)), "")
    first, second = first.removesuffix(ending), second.removesuffix(ending)
    length = min(len(first), len(second))
    exchanged = len(first) == len(second) and sorted(first) != sorted(second)
    same_frame = first.translate(_VOWELS) == second.translate(_VOWELS)
    if length < (least[0] + 1 if exchanged and same_frame else least[exchanged]):
        return False
    if same_frame and len(first.translate(_VOWELS)) == length:
        return True
    return _distance(first, second) <= (1 if length < _MIN_OF_TWO else 2)


def _sound(word: str) -> str:
    """Return a word with a single spelling for sounds that English spells in several ways."""
    for spelling, sound in _SPELLINGS:
        word = word.replace(spelling, sound)
    return word


def _distance(first: str, second: str) -> int:
    """Return the number of letters added, left out, replaced or swapped between two words.

    This is the optimal string alignment distance (Damerau 1964); 9 if the lengths differ by more
    than 2.
    """
    if abs(len(first) - len(second)) > 2:
        return 9
    before, row = [0] * (len(second) + 1), list(range(len(second) + 1))
    for number, letter in enumerate(first, start=1):
        last, before, row = before, row, [number]
        for place, other in enumerate(second, start=1):
            best = min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != other))
            if number > 1 and place > 1 and (letter, first[number - 2]) == (
                    second[place - 2], other):
                best = min(best, last[place - 2] + 1)
            row.append(best)
    return row[-1]
