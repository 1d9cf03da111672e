"""The sentences of an answer, and their clauses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mimegen.evaluation.reading.deciding_words import NO_DENIAL
from mimegen.evaluation.reading.spoken import MARKS

QUOTES = " \"'\u201d\u2019)*_"
COMMAS = re.compile(r"[,;，、،]")
_END = re.compile(r"[.!?]+[\"'\u201d\u2019)\]*_]{0,4}\s+|[\u3002\u0964]|(?<=[!?])(?=[^\x00-\x7f])")
_LONE_AT_END = re.compile(r"(?:^|[\s(\[*_\"':])[A-Za-z]$")
_NUMBER = re.compile(r"[^\w\n]{0,8}\d{1,2}\.\s{1,3}")
_NEXT_LONE = re.compile(r"[(\[*_\"']{0,3}[A-Za-z][.):,]")
# "A, B or C" stays together: commas between letters do not separate clauses.
_JOINED = r"\s?(?:(?:and|or|nor|und|oder|et|ou|y|o|e)\s)?[(\"'*]?[A-Z](?![A-Za-z0-9'’])"
_CLAUSE_END = re.compile(
    rf"(?:(?<!\b[A-Z])(?<!\b[A-Z][)\"'*])[,;，、،]|[,;，、،](?!{_JOINED}))"
    r"(?!\s(?:dass|daß|że|что|що|že)\b)"
    r"|\s[-–—]+\s(?![*_(\"']{0,3}[A-Za-z]\b)"
    r"|(?<!\bAnything)(?<!\bEverything)(?<!\bNothing)(?<!\bAll)\s(?=(?:but|because|since|while|whereas|although|though|hence|thus"
    r"|therefore|leaving|however|so(?!\s(?:is|are|does)\b)|rather\sthan|instead\sof|and\snot|unlike|aber|weil|mais"
    r"|sondern|pero|sino|mas|но)\s)|(?<=ではなく)", re.IGNORECASE)


@dataclass(frozen=True)
class Sentence:
    """A sentence, whether it begins its line, and whether that line is the first or last one."""

    text: str
    begins_line: bool = True
    outer: bool = True


def sentences_of(text: str) -> Iterator[Sentence]:
    """Yield the sentences of each line that contains more than marks."""
    lines = [line for line in text.splitlines() if line.strip(MARKS + "-\u2013\u2014\u2022=~|")]
    for number, line in enumerate(lines):
        outer = number in (0, len(lines) - 1)
        start = 0
        for end in _END.finditer(line):
            if _ends_sentence(line, start, end):
                yield Sentence(line[start:end.end()].strip(), start == 0, outer)
                start = end.end()
        if line[start:].strip():
            yield Sentence(line[start:].strip(), start == 0, outer)


def _ends_sentence(line: str, start: int, end: re.Match[str]) -> bool:
    """Whether a full stop ends a sentence; after a letter that begins one (``B. archery``) not.

    Nor does it after the number that begins a line of a list (``1. B``).
    """
    if _NUMBER.fullmatch(line[:end.end()]):
        return False
    before = line[max(start, end.start() - 8):end.start()]
    if not end[0].startswith(".") or not _LONE_AT_END.search(before):
        return True
    begins = len(line[start:end.start()].strip(MARKS + "-\u2022")) <= 1
    following = line[end.end():end.end() + 8]
    first = following[:1]
    # Letters of scripts without case begin sentences as capital letters do.
    return (not begins and first.isalpha() and not first.islower()
            and not _NEXT_LONE.match(following))


def clauses_of(sentence: str) -> list[str]:
    """Return the clauses of a sentence that contain more than marks."""
    return [clause for clause in _CLAUSE_END.split(NO_DENIAL.sub(" ", sentence))
            if clause.strip(MARKS)]
