"""Turn a text into the face that speaks it: visemes over time, with brows, blinks and nods.

The rules and their sources are in rigs/faces/speech.yaml.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple
from unicodedata import combining, normalize

import numpy as np

from mimegen.base.easing import ramp
from mimegen.base.errors import near_misses
from mimegen.base.paths import data_file
from mimegen.base.yaml_file import Strict, read_yaml_once
from mimegen.faces.words import ACTION_UNIT, VISEME, Values, in_units, summed
from mimegen.motion.quaternions import FloatArray

# The longest text that is spoken, in characters.
MAX_LETTERS = 2000
# Typographic characters and their plain replacements.
PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u2013": " - ", "\u2014": " - ",
                       "\u2026": ".", "\u00bf": None, "\u00a1": None})
TOKEN = re.compile(r"\{([^{}]*)\}|([a-z']+)|(\d)|([,;:.!?]+)|(?<=\s)(-)(?=\s)")
# A word of a text with the marks around it, or sounds in braces.
WORD = re.compile(r"\{[^{}]*\}\S*|[^\s{}]+")
# A sound is complete from this fraction of its length on, and begins to fade as long before its
# end.
INNER = 0.3
# The length of a phrase, in seconds, for each further raise of the brows.
BEAT_EVERY_S = 1.6
QUESTION, EXCLAMATION = "?", "!"


class Beat(Strict):
    """A movement of brows and head with a stressed word.

    ``brows`` are action units, ``sizes`` the range of their strength; it rises, stays and falls in
    the given times, in seconds. ``nod`` is the head's nod in degrees.
    """

    brows: dict[str, float]
    sizes: tuple[float, float] = (1.0, 1.0)
    rises_s: float
    stays_s: float
    falls_s: float
    nod: float

    def course(self, moments: FloatArray, top: float) -> FloatArray:
        """Return its strength (F,), 0 to 1, at times ``moments`` (F,), in seconds.

        ``top`` is the time at which it is first complete.
        """
        begins, leaves = top - self.rises_s, top + self.stays_s
        return ramp(moments, begins, top) * ramp(moments, leaves + self.falls_s, leaves)


class Overlap(Strict):
    """How long before and after a sound the lips move, in seconds.

    ``rounded`` replaces ``before`` for rounded lips.
    """

    before: float
    after: float
    rounded: float


class Blinks(Strict):
    """Blinks in pauses: the fraction of pauses that have one, and its times.

    The lids close in ``shuts_s``, stay closed for ``shut_s`` and open in ``opens_s`` seconds.
    """

    share: float
    shuts_s: float
    shut_s: float
    opens_s: float


class SpeechFile(Strict):
    """The contents of rigs/faces/speech.yaml, which explains its parts."""

    phones: dict[str, tuple[tuple[str, float] | tuple[str, float, float], ...]]
    vowels: tuple[str, ...]
    pauses: dict[str, float]
    last: float
    strong: float
    weak: float
    tempo: float
    clearness: float
    overlap: Overlap
    rounding: tuple[str, ...]
    power: dict[str, float]
    shut_s: float
    beat: Beat
    question: Beat
    exclaimed: float
    blinks: Blinks
    remains: dict[str, float]
    light: tuple[str, ...]
    words: dict[str, str]
    letters: tuple[tuple[str, str], ...]


def speech_file() -> SpeechFile:
    """Return the contents of rigs/faces/speech.yaml."""
    return read_yaml_once(data_file("rigs/faces/speech.yaml"), SpeechFile)


class Sound(NamedTuple):
    """A viseme: its beginning and length in seconds, and its strength."""

    viseme: str
    begins: float
    lasts: float
    size: float


class Phrase(NamedTuple):
    """The words between two pauses.

    It has a beginning and an end, the punctuation mark after it, and the beginnings of its stressed
    vowels; times are in seconds.
    """

    begins: float
    ends: float
    mark: str
    strong: tuple[float, ...]


class _Word(NamedTuple):
    """A word's phones, and whether it can be stressed."""

    phones: tuple[str, ...]
    heavy: bool


@dataclass(frozen=True)
class Speech:
    """A text's sounds and phrases, in seconds from its beginning."""

    sounds: tuple[Sound, ...]
    phrases: tuple[Phrase, ...]

    @property
    def duration(self) -> float:
        """Its length in seconds at the usual tempo."""
        return self.phrases[-1].ends


class Spoken(NamedTuple):
    """The face of someone who speaks.

    It has values (F,) by word, how far the mouth is used by speech (F,), 0 to 1, and nods (F,) in
    degrees.
    """

    values: dict[str, FloatArray]
    speaking: FloatArray
    nod: FloatArray


@lru_cache(maxsize=256)
def speech_of(text: str) -> Speech:
    """Return how a text is spoken.

    Raises ValueError for text that is neither plain English nor phones.
    """
    sounds: list[Sound] = []
    phrases: list[Phrase] = []
    moment = 0.0
    for words, mark in _phrases(text):
        begins, strong = moment, []
        for number, word in enumerate(words):
            for one, is_strong in _sounds(word, moment, number == len(words) - 1):
                strong += [one.begins] if is_strong else []
                sounds.append(one)
                moment = one.begins + one.lasts
        phrases.append(Phrase(begins, moment, mark, tuple(strong) or (begins,)))
        moment += speech_file().pauses.get(mark, 0.0)
    return Speech(tuple(sounds), tuple(phrases))


def _sounds(word: _Word, moment: float, last: bool) -> Iterator[tuple[Sound, bool]]:
    """Yield a word's sounds from ``moment`` (seconds) on, and whether each starts a stressed vowel.

    ``last`` is true for the last word before a pause.
    """
    known, met = speech_file(), False
    for phone in word.phones:
        vowel = phone in known.vowels
        strong = vowel and word.heavy and not met
        met |= vowel
        stretch = (known.last if vowel and last else 1.0) * (known.strong if strong else 1.0)
        for number, (viseme, lasts, *size) in enumerate(known.phones[phone]):
            far = (size[0] if size else 1.0) * (known.weak if vowel and not strong else 1.0)
            yield Sound(viseme, moment, lasts * stretch, far), strong and number == 0
            moment += lasts * stretch


def _phrases(text: str) -> Iterator[tuple[list[_Word], str]]:
    """Yield the words up to each pause, and the mark that makes it; empty at the text's end."""
    words: list[_Word] = []
    for found in TOKEN.finditer(_plain(text)):
        phones, letters, digit, marks, dash = found.groups()
        if phones is not None:
            words.append(_Word(_given(phones), True))
        elif letters or digit:
            name = letters or digit
            words.append(_Word(_read(name), name not in speech_file().light))
        elif any(word.phones for word in words):
            yield words, _strongest(marks or dash)
            words = []
    if any(word.phones for word in words):
        yield words, ""


def _plain(text: str) -> str:
    """Return a text in lower-case Latin letters; raises ValueError if it cannot be spoken."""
    if len(text) > MAX_LETTERS:
        raise ValueError(f"the text has {len(text)} letters; at most {MAX_LETTERS} are spoken")
    bare = "".join(one for one in normalize("NFKD", text.translate(PLAIN)) if not combining(one))
    strange = re.search(r"[^\W\d_a-zA-Z]", bare)
    if strange:
        raise ValueError(f"'{strange[0]}' is no letter of English; write the sounds of other"
                         " languages in braces, as {HH AH L OW}")
    if not re.search(r"[A-Za-z0-9]", bare):
        raise ValueError("there is nothing to say; expected a text, as 'Hello, how are you?'")
    phones = re.split(r"(\{[^{}]*\})", bare)
    return "".join(part if part.startswith("{") else part.lower() for part in phones)


def _given(text: str) -> tuple[str, ...]:
    """Return the phones that a text spells out itself, without stress marks.

    Raises ValueError for an unknown phone.
    """
    found = tuple(phone.rstrip("012").upper() for phone in text.split())
    for phone in found:
        if phone not in speech_file().phones:
            raise ValueError(f"no phone of ARPAbet is called '{phone}'"
                             f"{near_misses(phone, speech_file().phones)}")
    return found


def _strongest(marks: str) -> str:
    """Return the mark among several that decides: a question or exclamation mark, or the first."""
    return next((mark for mark in (QUESTION, EXCLAMATION) if mark in marks), marks[0])


@lru_cache(maxsize=4096)
def _read(word: str) -> tuple[str, ...]:
    """Return a word's phones, from the table of words or else by the letter-to-sound rules."""
    bare = word.strip("'")
    known = speech_file().words.get(bare)
    if known is not None:
        return tuple(known.split())
    phones: list[str] = []
    place = 0
    while place < len(bare):
        end, found = next((match.end(), found) for rule, found in _rules()
                          if (match := rule.match(bare, place)))
        phones += found
        place = end
    return tuple(phones)


@cache
def _rules() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """Return the letter-to-sound rules, in their order, as patterns and phones."""
    return tuple((re.compile(letters), tuple(phones.split()))
                 for letters, phones in speech_file().letters)


def pace_of(rng: np.random.Generator) -> float:
    """Draw the tempo of a seed, as a factor of the usual one."""
    tempo = speech_file().tempo
    return float(rng.uniform(1 - tempo, 1 + tempo))


def said_within(text: str, seconds: float) -> str:
    """Return a text without the words at its end that are not over within ``seconds``.

    The time is that at the usual tempo.
    """
    if speech_of(text).duration <= seconds:
        return text
    ends = [0, *(word.end() for word in WORD.finditer(text))]
    return text[:ends[bisect_right(ends, seconds, key=lambda end: _lasts(text[:end])) - 1]]


def _lasts(text: str) -> float:
    """Return how long a text takes in seconds at the usual tempo, 0 for one without sounds."""
    try:
        return speech_of(text).duration
    except ValueError:
        return 0.0


def slowest(speech: Speech) -> float:
    """Return the longest duration of a speech by any seed, in seconds."""
    return speech.duration / (1 - speech_file().tempo)


def spoken(speech: Speech, moments: FloatArray, rng: np.random.Generator) -> Spoken:
    """Return the face that speaks; ``moments`` (F,) are in seconds from the speech's beginning."""
    clear = max(0.5, 1 + speech_file().clearness * float(rng.standard_normal()))
    values = in_units({VISEME + name: clear * value
                       for name, value in _mouth(speech.sounds, moments).items()})
    brows, nod = _beats(speech.phrases, moments, rng)
    values = summed(values, brows) | {"closed": _blinks(speech.phrases, moments, rng)}
    return Spoken(values, _speaking(speech.phrases, moments), nod)


def _mouth(sounds: Sequence[Sound], moments: FloatArray) -> dict[str, FloatArray]:
    """Return the strength (F,) of each viseme; neighbouring sounds overlap."""
    known = speech_file()
    bumps = np.stack([_bump(one, moments) for one in sounds])
    shares = bumps * np.array([known.power[one.viseme] for one in sounds])[:, None]
    shares = shares / (shares.sum(axis=0) + np.clip(1 - bumps.sum(axis=0), 0.0, 1.0))
    sizes = np.array([one.size for one in sounds])[:, None] * shares
    names = np.array([one.viseme for one in sounds])
    return {str(name): sizes[names == name].sum(axis=0) for name in sorted(set(names))}


def _bump(one: Sound, moments: FloatArray) -> FloatArray:
    """Return how far (F,) a sound shapes the lips, 0 to 1."""
    known = speech_file()
    inner = max(0.0, min(INNER * one.lasts, (one.lasts - known.shut_s) / 2))
    before = known.overlap.rounded if one.viseme in known.rounding else known.overlap.before
    ends = one.begins + one.lasts
    return (ramp(moments, one.begins - before, one.begins + inner)
            * ramp(moments, ends + known.overlap.after, ends - inner))


def _beats(phrases: Sequence[Phrase], moments: FloatArray, rng: np.random.Generator
           ) -> tuple[dict[str, FloatArray], FloatArray]:
    """Return the brows' values (F,) by word, and the head's nods (F,) in degrees upwards."""
    known = speech_file()
    brows: dict[str, FloatArray] = {}
    nod = np.zeros(len(moments))
    for phrase in phrases:
        strength = known.exclaimed if phrase.mark == EXCLAMATION else 1.0
        count = min(len(phrase.strong), 1 + int((phrase.ends - phrase.begins) / BEAT_EVERY_S))
        tops = rng.choice(phrase.strong, count, replace=False)
        beats = [(known.beat, top, strength * rng.uniform(*known.beat.sizes)) for top in tops]
        if phrase.mark == QUESTION:
            beats = [*beats[:-1], (known.question, phrase.strong[-1], 1.0)]
        for beat, top, size in beats:
            course = size * beat.course(moments, float(top))
            nod += beat.nod * course
            brows |= {word: np.maximum(brows.get(word, 0.0), far * course)
                      for word, far in beat.brows.items()}
    return brows, nod


def _blinks(phrases: Sequence[Phrase], moments: FloatArray, rng: np.random.Generator
            ) -> FloatArray:
    """Return how far (F,) blinks in the pauses close the lids, 0 to 1."""
    known = speech_file().blinks
    shut = np.zeros(len(moments))
    for phrase in phrases[:-1]:
        if rng.uniform() < known.share:
            down = phrase.ends + known.shuts_s
            up = down + known.shut_s
            shut = np.maximum(shut, ramp(moments, phrase.ends, down)
                              * ramp(moments, up + known.opens_s, up))
    return shut


def _speaking(phrases: Sequence[Phrase], moments: FloatArray) -> FloatArray:
    """Return how far (F,) the mouth is used by speech, 0 to 1."""
    around = speech_file().overlap.rounded
    talks = [ramp(moments, one.begins - 2 * around, one.begins - around)
             * ramp(moments, one.ends + 3 * around, one.ends) for one in phrases]
    return np.asarray(np.max(talks, axis=0))


def giving_way(values: Values, speaking: FloatArray) -> dict[str, FloatArray]:
    """Return values (F,) by word, with those of the mouth reduced while it speaks (F,)."""
    remains = speech_file().remains
    return {word: value * (1 - (1 - remains.get(_unsided(word), 1.0)) * speaking)
            for word, value in values.items()}


def _unsided(word: str) -> str:
    one = ACTION_UNIT.fullmatch(word)
    return f"AU{one[1]}" if one else word
