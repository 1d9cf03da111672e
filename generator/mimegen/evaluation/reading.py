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

Only the standard library is imported, because exports copy this file into harnesses.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from string import ascii_uppercase

MARKED = "marked"
STATED = "statement"
LETTER = "letter"
WORDS = "words"
STRICT = "strict"
# The names of the rules, in the order in which they are tried.
RULES = (MARKED, STATED, LETTER, WORDS)

_MARKS = " \t*_`'\"\u2018\u2019\u201c\u201d()[]{}<>.:;,!#$\\"
_PREFIX = re.compile(r"^[\W_]{0,40}(?:final\s{1,9})?answer\s{0,9}(?:is|:)\s{0,9}", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """The index of the option that an output chooses, and the rule that read it; None for none."""

    place: int | None = None
    rule: str | None = None


def chosen_option(output: str, options: Sequence[str]) -> int | None:
    """Return the index of the option that an output chooses; None if unclear."""
    return read_choice(output, options).place


def read_choice(output: str, options: Sequence[str]) -> Choice:
    """Return the option that an output chooses, and the rule that found it.

    Models that are not tuned for conversations continue with a question of their own, whose answer
    does not count.
    """
    known, text = _Options(options), _written(output)
    turn = _TURN.search(text)
    own = _read(_last_turn(text[:turn.start()]), known) if turn else Choice()
    return _read(_last_turn(text), known) if own.place is None else own


def read_strictly(output: str, options: Sequence[str]) -> Choice:
    """Return the option that an output chooses by the single rule of mimegen 0.1.

    The last line counts: a letter, perhaps with its option's text, or that text alone. If it is
    neither, every ``answer is B`` and ``described by option B`` must name the same letter.
    """
    lines = [line for line in output.splitlines() if line.strip(_MARKS)]
    place = _strict_place(lines, [_plain(option) for option in options]) if lines else None
    return Choice(place, None if place is None else STRICT)


_STRICT_LINE = re.compile(r"(?:(?:final\s)?answer\s?(?:is|:)?|option)?[\W_]*([A-Z])"
                          r"(?:\s?[.):\]*]+\s?(?P<text>.*)|[\W_]*)$", re.IGNORECASE)
_STRICT_SAID = re.compile(r"(?i:answer\sis|answer\s?:|described\sby|\\boxed\{)(?i:\s?option)?"
                          r"[\s*_(\"'\[:]*([A-Z])(?![A-Za-z])(?!\s?(?:,|/|or|and)\s?[A-Z]\b)")


def _strict_place(lines: Sequence[str], texts: Sequence[str]) -> int | None:
    """Return the index of the option that the strict rule reads; None if none or unclear."""
    last = " ".join(lines[-1].split())
    if _plain(last) in texts:
        return texts.index(_plain(last))
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
    rest = _plain(text)
    if place < 0 or (rest in texts and texts[place] != rest):
        return None
    letters = [*ascii_uppercase[:len(texts)]]
    others = [word for word in text.split() if word.strip(_MARKS) in letters]
    return place if rest in texts or not others else None


def _without_lead(text: str) -> str:
    """Return a text from its first letter or digit on."""
    first = re.search(r"[^\W_]", text)
    return text[first.start():] if first else ""


def exactly_right(output: str, options: Sequence[str], answer: str, labels: Sequence[str]) -> bool:
    """Return whether an output chooses the answer or, without options, ends in a label's words.

    Harnesses show this; ``mimegen evaluate`` compares free answers by meaning instead.
    """
    if options:
        return chosen_option(output, options) == options.index(answer)
    return _plain(final_phrase(output)) in [_plain(label) for label in labels]


def final_phrase(output: str) -> str:
    """Return the last line of an output's text, without marks and without ``Answer:``."""
    lines = [line for line in spoken(output).splitlines() if line.strip(_MARKS)]
    return _PREFIX.sub("", lines[-1]).strip(_MARKS) if lines else ""


def _plain(text: str) -> str:
    return " ".join(text.lower().strip(_MARKS).split())


# ------------------------------------------------------------------ what is said to the reader

_THOUGHTS = r"think|thinking|thought|thoughts|reasoning|reason|analysis|scratchpad|reflection|cot"
# Each of these is written by some model family: <think>, [THINK], <seed:think>, and tokens.
_OPENING = re.compile(
    rf"[<\u25c1](?:seed:)?(?:{_THOUGHTS})[>\u25b7]|\[(?:{_THOUGHTS})\]|<unused94>"
    r"|<\|(?:START_THINKING|begin_of_thought)\|>|^Thinking\.\.\.$", re.IGNORECASE | re.MULTILINE)
_CLOSING = re.compile(
    rf"[<\u25c1]/(?:seed:)?(?:{_THOUGHTS})[>\u25b7]|\[/(?:{_THOUGHTS})\]|<unused95>"
    r"|<\|(?:END_THINKING|end_of_thought)\|>|\.\.\.done thinking\.", re.IGNORECASE)
# Servers that leave out special tokens keep the channels' names: "analysisThe ... assistantfinalC".
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final<\|message\|>|assistantfinal(?=\S)")
_OTHER_CHANNEL = re.compile(r"<\|channel\|>(?!final)\w{1,20}|\Aanalysis(?=[A-Z][a-z ])")
_TOKENS = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?(?:s|pad|bos|eos|unk|b|i|u|em|strong|p|br|code|mark|span|div|center"
    r"|start_of_turn|end_of_turn)\s?/?>|\[/?INST\]", re.IGNORECASE)
_ROLE = re.compile(r"(?:^|\n)[ \t]{0,9}(?:assistant[ \t]{0,9}:|(?:assistant|model)[ \t]{0,9}\n)",
                   re.IGNORECASE)
_TURN = re.compile(r"\n\s{0,9}(?:human|user|question|q)[ \d]{0,4}:", re.IGNORECASE)
_REPEATED = re.compile(r"([^\w\s])\1{3,}")
_BLANKS = re.compile(r"[^\S\n]+")
_COUNTERCLOCKWISE = re.compile(r"\b(?:counter|anti)[- ]?clockwise\b", re.IGNORECASE)
# In characters. Beyond this, output is usually endless repetition.
_LONGEST = 40_000
_FENCE = re.compile(r"```[A-Za-z]{0,12}")


def spoken(output: str) -> str:
    """Return an output's text for the reader: no reasoning in tags, no tokens, plain letters."""
    return _last_turn(_written(output))


def _written(output: str) -> str:
    """Return an output without reasoning in tags and tokens, in plain letters."""
    text = _without_thoughts(output)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST // 4]}\n{text[-_LONGEST // 4 * 3:]}"
    return _normal(_TOKENS.sub(_as_box, text))


def _last_turn(text: str) -> str:
    """Return what an assistant says last, without long runs of one mark."""
    *_, text = _ROLE.split(text)
    return _REPEATED.sub(r"\1\1\1", _BLANKS.sub(" ", text)).strip()


def _normal(text: str) -> str:
    """Return a text in plain letters, with one minus sign and one word for counterclockwise."""
    text = unicodedata.normalize("NFKC", text).replace("\u2212", "-")
    return _COUNTERCLOCKWISE.sub("counterclockwise", text)


def _as_box(token: re.Match[str]) -> str:
    """Return the answer's tag for the tokens around a box, and a blank for all others."""
    return {"<|begin_of_box|>": "<answer>", "<|end_of_box|>": "</answer>"}.get(token[0], " ")


def _without_thoughts(text: str) -> str:
    """Return a text without blocks of reasoning, even if their start or end is missing."""
    found = [*_FINAL_CHANNEL.finditer(text)]
    if found:
        return text[found[-1].end():]
    text = _cut(_OTHER_CHANNEL, text)
    kept, place = "", 0
    for closing in _CLOSING.finditer(text):
        opening = _OPENING.search(text, place, closing.start())
        # Chat templates may put the opening tag into the prompt; then everything before is
        # reasoning.
        kept = kept + text[place:opening.start()] if opening else ""
        place = closing.end()
    return kept + _cut(_OPENING, text[place:])


def _cut(beginning: re.Pattern[str], text: str) -> str:
    found = beginning.search(text)
    return text[:found.start()] if found else text


# ------------------------------------------------------------------ rules

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


def _read(text: str, options: "_Options") -> Choice:
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


def _read_whole(text: str, options: "_Options") -> Choice:
    """Return the choice in a text by the rules after ``MARKED``."""
    exact = options.exact(_ANNOUNCED.sub("", text))
    if exact is not None:
        return Choice(exact, WORDS)
    text = options.without_letters(text)
    events = _events(text, options)
    stated = [one for one in events if one.kind == _CHOICE]
    stated = [one for one in stated if one.weight] or stated
    if stated:
        last = stated[-1]
        later = events[len(events) - events[::-1].index(last):]
        doubted = any(one.kind == _DOUBT and one.letters - last.letters for one in later)
        # After an outright answer, words about another option are rarely a change of mind.
        doubted |= any(one.weight > last.weight and one.letters != last.letters for one in stated)
        return Choice() if doubted else Choice(options.place(min(last.letters)), last.rule)
    if any(one.kind == _CONFLICT for one in events):
        return Choice()
    mentioned = [one for one in events if one.kind == _MENTION]
    meant = {letter for one in events if one.kind != _DENY for letter in one.letters}
    if len(meant) == 1 and mentioned:
        return Choice(options.place(min(mentioned[0].letters)), LETTER)
    place = options.last_line(text)
    if place is None:
        place = options.only_named(_told(text, options))
    return Choice(place, None if place is None else WORDS)


# A capital letter by itself in an option, as in "vitamin C".
_CAPITAL = re.compile(r"\b[A-Z]\b")


def _whole_words(text: str) -> str:
    """Return a pattern of an option's words; a number is not found within another number."""
    before = r"(?<![-.,\d])" if text[0].isdigit() else ""
    after = r"(?![-.,]?\d)" if text[-1].isdigit() else ""
    return f"{before}{re.escape(text)}{after}"


class _Options:
    """Options, found by their letters and by their words."""

    def __init__(self, options: Sequence[str]) -> None:
        self.count = len(options)
        self.letters = ascii_uppercase[:len(options)]
        self.texts = [_plain(_normal(option)) for option in options]
        # Longer ones first, because one option's words may contain another's.
        self._heads = [_COMMAS.split(text)[0] for text in self.texts]
        self._bare = [_COMMAS.sub("", text) for text in self.texts]
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
                         or re.fullmatch(rf"[\W_]{{0,9}}{re.escape(_COMMAS.split(own)[0])}[\W_]*",
                                         text, re.IGNORECASE))
        return text[found.end():] if found else text

    def exact(self, text: str) -> int | None:
        """Return the index of the option that a text equals; None for another or an ambiguous one.

        A single letter is an option's letter, even if it is also the text of another one.
        """
        plain = _plain(text)
        if len(plain) == 1 and plain.upper() in self.letters:
            return None
        return self.texts.index(plain) if plain and self.texts.count(plain) == 1 else None

    def without_letters(self, text: str) -> str:
        """Return a text in which letters within options are lower case, as in "vitamin C"."""
        return self._with_letters.sub(lambda found: found[0].lower(), text
                                      ) if self._with_letters else text

    def last_line(self, text: str) -> int | None:
        """Return the index of the option that the last line equals, perhaps after ``Answer:``."""
        return self.exact(_ANNOUNCED.sub("", text[text.rfind("\n") + 1:]))

    def named(self, clause: str) -> list[int]:
        """Return the indices of the options whose words occur in a clause that does not deny them.
        """
        lowered = " ".join(clause.lower().split())
        found = self._named.finditer(lowered) if self._named else ()
        return [self._bare.index(one[0]) for one in _affirmed(lowered, found)]

    def only_named(self, sentences: Sequence[str]) -> int | None:
        """Return the only option whose words occur in sentences, or else in their conclusion."""
        if sum(map(len, sentences)) <= _SHORT or not self._is_brief():
            found = self._named_in(sentences)
        else:
            found = self._first_word(" ".join(sentences))
        if len(found) != 1:
            last = sentences[-1:]
            found = self._named_in(last) if last and _CONCLUDES.search(last[0]) else set()
        return found.pop() if len(found) == 1 else None

    def _named_in(self, sentences: Sequence[str]) -> set[int]:
        if self._is_yes_or_no():
            return self._first_word(" ".join(sentences))
        clauses = [clause for sentence in sentences if not sentence.rstrip(_QUOTES).endswith("?")
                   for clause in _clauses(self._without_commas(sentence))]
        return {place for clause in clauses if not _HEDGE.search(clause)
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

    def _first_word(self, text: str) -> set[int]:
        first = re.split(r"[\s,.;:!]", text.strip(_MARKS), maxsplit=1)[0]
        return {place for place, head in enumerate(self._heads) if head == first.lower()}


# In characters. In longer texts, options of one or two letters are looked for only in the first
# word.
_SHORT = 120
# Number of characters around a letter that are considered.
_NEAR = 80
# A clause with more single letters is not a sentence.
_MOST_LETTERS = 60
_COMMAS = re.compile(r"[,;，、،]")
_SAYS_NO = re.compile(r"(?i:[:\-\u2013\u2014,]\s?(?:no|nein|non)\b)")
_QUOTES = " \"'\u201d\u2019)*_"


# ------------------------------------------------------------------ sentences and clauses

@dataclass(frozen=True)
class _Sentence:
    """A sentence, whether it begins its line, and whether that line is the first or last one."""

    text: str
    begins_line: bool = True
    outer: bool = True


_END = re.compile(r"[.!?]+[\"'\u201d\u2019)\]*_]{0,4}\s+|[\u3002\u0964]|(?<=[!?])(?=[^\x00-\x7f])")
_LONE_AT_END = re.compile(r"(?:^|[\s(\[*_\"':])[A-Za-z]$")
_NUMBER = re.compile(r"[^\w\n]{0,8}\d{1,2}\.\s{1,3}")
_NEXT_LONE = re.compile(r"[(\[*_\"']{0,3}[A-Za-z][.):,]")


def _sentences(text: str) -> Iterator[_Sentence]:
    """Yield the sentences of each line that contains more than marks."""
    lines = [line for line in text.splitlines() if line.strip(_MARKS + "-\u2013\u2014\u2022=~|")]
    for number, line in enumerate(lines):
        outer = number in (0, len(lines) - 1)
        start = 0
        for end in _END.finditer(line):
            if _ends_sentence(line, start, end):
                yield _Sentence(line[start:end.end()].strip(), start == 0, outer)
                start = end.end()
        if line[start:].strip():
            yield _Sentence(line[start:].strip(), start == 0, outer)


def _ends_sentence(line: str, start: int, end: re.Match[str]) -> bool:
    """Whether a full stop ends a sentence; after a letter that begins one (``B. archery``) not.

    Nor does it after the number that begins a line of a list (``1. B``).
    """
    if _NUMBER.fullmatch(line[:end.end()]):
        return False
    before = line[max(start, end.start() - 8):end.start()]
    if not end[0].startswith(".") or not _LONE_AT_END.search(before):
        return True
    begins = len(line[start:end.start()].strip(_MARKS + "-\u2022")) <= 1
    following = line[end.end():end.end() + 8]
    first = following[:1]
    # Letters of scripts without case begin sentences as capital letters do.
    return (not begins and first.isalpha() and not first.islower()
            and not _NEXT_LONE.match(following))


# "A, B or C" stays together: commas between letters do not separate clauses.
_JOINED = r"\s?(?:(?:and|or|nor|und|oder|et|ou|y|o|e)\s)?[(\"'*]?[A-Z](?![A-Za-z0-9'’])"
_CLAUSE_END = re.compile(
    rf"(?:(?<!\b[A-Z])(?<!\b[A-Z][)\"'*])[,;，、،]|[,;，、،](?!{_JOINED}))"
    r"(?!\s(?:dass|daß|że|что|що|že)\b)"
    r"|\s[-–—]+\s(?![*_(\"']{0,3}[A-Za-z]\b)"
    r"|(?<!\bAnything)(?<!\bEverything)(?<!\bNothing)(?<!\bAll)\s(?=(?:but|because|since|while|whereas|although|though|hence|thus"
    r"|therefore|leaving|however|so(?!\s(?:is|are|does)\b)|rather\sthan|instead\sof|and\snot|unlike|aber|weil|mais"
    r"|sondern|pero|sino|mas|но)\s)|(?<=ではなく)", re.IGNORECASE)


def _clauses(sentence: str) -> list[str]:
    return [clause for clause in _CLAUSE_END.split(_NO_DENIAL.sub(" ", sentence))
            if clause.strip(_MARKS)]


# ------------------------------------------------------------------ words that decide

def _words(*languages: str) -> str:
    """Return a pattern of words separated by blanks; ``_`` stands for a blank within one."""
    found = [word.replace("_", " ") for words in languages for word in words.split()]
    whole = [word for word in found if word[0].isascii() or word[0].islower()]
    rest = [word for word in found if word not in whole]
    return "|".join([rf"\b(?:{'|'.join(whole)})\b", *rest])


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_DENIES = _words(
    r"not never neither nor nobody no_one none cannot can't can’t \w{2,6}n't \w{2,6}n’t",
    r"rul(?:e|es|ed|ing)_out eliminat\w* exclud\w* discard\w* reject\w* rather_than instead_of",
    r"unlike incorrect inaccurate wrong unlikely (?:less|least)_(?:likely|plausible|probable)",
    r"false inconsistent implausible except without (?:anything|everything|all)_but",
    r"nothing(?!_but) nicht kein\w* falsch\w* unzutreffend\w* scheidet_aus ausgeschlossen",
    r"pas fauss?e? incorrecte? exclure écart\w+ no_es no_era no_puede incorrect[ao] descart\w+",
    r"non escluder\w* não",
    r"incorret[ao] errad[ao] sbagliat[ao] niet fout nie błęd\w* не невер\w* неправ\w* değil yanlış",
    r"không sai tidak salah bukan",
    "不 非 排除 錯 错 ではな じゃな ではありません 違 間違 誤 아니 아닙 아닌 않 틀 될_수_없",
    "ليس غير خطأ خاط لا_أعتقد لا_أظن لا_يمكن नहीं गलत ❌ ✗ ✘")
_HEDGES = _words(
    r"could might may perhaps maybe possibly either unsure unclear if were whether thought",
    r"initially at_first at_first_glance suppose assume consider(?:ed|ing)? torn",
    r"hard_to_(?:say|tell) (?:next|second)[-_]best second_(?:most|choice|guess|option) runner-up",
    r"runner_up distractor only_other",
    r"könnte vielleicht wenn peut-être pourrait podría quizás tal_vez talvez poderia forse",
    r"potrebbe может возможно", "可能 也许 如果 かも ربما")
# What would be so if something else were: no choice if there is any other statement.
_HYPOTHETICAL = _words(
    r"(?<!\bi_)would (?:for|had)_(?:\S+_){1,5}(?:to_be|been) if_\S+ wäre\w* würde\w*",
    r"serait seraient sería seria sarebbe zou бы byłaby byłby olurdu", "则应")
# Words that, anywhere in a clause with one letter, mark it as the choice.
_CUES = _words(
    r"answer ans correct best choose chose chosen choice_is pick picked select selected",
    r"opt_for go_with going_with went_with described_(?:\w{1,12}_)?(?:by|as) match matches",
    r"correspond\w* accurate accurately appropriate suitable fits solution conclude conclusion",
    r"resembles suggest\w* indicat\w* points?_to is_right final correction",
    r"right_(?:answer|option|choice|one) seems_right represented_by makes_(?:the_most_)?sense",
    r"lean_towards? better more_likely most_likely",
    r"(?:more|most)_(?:plausible|probable) remains selection prediction",
    r"antwort lösung richtig\w* wähle\w* korrekt\w* stimmt passt",
    r"trifft_zu entscheide réponse reponse correcte? choisis bonne",
    r"respuesta correct[ao] elijo escojo resposta corret[ao] escolho alternativa letra",
    r"risposta corrett[ao] scelgo giusta antwoord juiste odpowiedź poprawna",
    r"ответ правильн\w* верн\w* выбираю cevap yanıt doğru jawaban(?:nya)? đáp_án chọn",
    "答案 正确 正確 选(?!项) 選(?!項|択肢) 贴切 恰当 合适 符合 相符 吻合 匹配",
    "答え 回答 正解 解答 だと思 です 정답 답 선택(?!지) 맞 입니다",
    "إجابة الجواب جواب الصحيح أختار اختار उत्तर जवाब सही")
# Words for an option, which say nothing of it by themselves.
_NOUNS = _words(r"вариант opción opção opzione alternativa buchstabe letra lettre l'option",
                "选项 選項 選択肢の? 선택지 الخيار विकल्प")
# An answer that is stated outright, up to its letter.
_ANSWERS = _words(
    r"answer (?:correct|right|best)_(?:option|choice) antwort lösung réponse respuesta resposta",
    r"risposta antwoord odpowied[źz] ответ cevap yanıt jawaban(?:nya)? đáp_án",
    "答案 答え 回答 正解 정답 답 إجابة الجواب उत्तर")
_OUTRIGHT = _pattern(
    rf"(?:{_ANSWERS})[^.!?;]{{0,30}}?"
    r"(?:[:：=—]|\b(?:is|be|ist|lautet|est|es|to|adalah)\b|è|é|là|是|为|為|は|은|는|هي|هو)"
    r"[^.!?;]{0,20}$")
# Words that mark a choice directly before a letter.
_LINKS = _words(
    r"is be it's it’s that's that’s so thus hence therefore leaves leaving say guess with by",
    r"definitely probably likely certainly clearly surely obviously but ist est es è é",
                "это а но sondern sino mais ma pero mas", "是 为 は ではなく")
_FILLERS = _words("the option choice answer letter most la le die là opción opção opzione")

_DENIAL = _pattern(_DENIES)
# After what is denied, up to three words of its own clause lead to the denial.
# Scripts without blanks have up to sixteen letters there, unless another option follows.
_DENIED_AFTER = _pattern(
    r"(?:(?:, ?|、| and | or | nor |/|和|与)[A-Z](?![A-Za-z])){0,5}[\W_]{0,4}"
    rf"(?:(?:(?!(?:that|which|who|where|as)\b)\S{{1,20}} ){{0,3}}(?:{_DENIES})"
    rf"|[\u3040-\u9fff\uac00-\ud7af ]{{1,16}}?(?:{_DENIES})(?![^A-Z]{{0,40}}(?-i:[A-Z])))"
    r"|[\W_]{1,5}no\b(?! doubt)")
_NO_DENIAL = _pattern(r"\b(?:no|without(?: a| any)?|beyond(?: a| any)?) (?:doubt|question)\b"
                      r"|\bnot only\b|\bwhy not\b|非常|不过|不仅|没错|沒錯|没有错|不错|틀림없이?"
                      r"|に?間違い(?:ない|なく|ありません)")
_AGAIN = _pattern(r"\s*(?:and |or )?(?:so|neither|nor) (?:is|are|does|do)\b")
_HEDGE = _pattern(_HEDGES)
_ALTERNATIVE = _pattern(r"[\W_]{0,4}(?:or |but |and )?(?:or|maybe|perhaps|possibly|alternatively)"
                        r"\b")
_STRONG = _pattern(_CUES)
_WEAK = _pattern(rf"(?:{_LINKS})[\s:=,]{{0,3}}(?:(?:{_FILLERS})\s){{0,3}}(?:(?:{_NOUNS})\s?)?"
                 r"[^\w\s]{0,4}$")
_IF = _pattern(_HYPOTHETICAL)
# A condition of what is shown, unlike "if I had to guess".
_CONDITION = _pattern(r"\b(?:if|wenn|falls|если) (?!(?:i|we|one|ich|wir|man|forced|pressed|so)\b)")
_CONCLUDES = _pattern(_words("so thus hence therefore overall conclusion conclude answer",
                             r"most_likely most_closely described_(?:as|by)"))
# What may precede the letter that begins a line: marks, and words that announce the answer.
_NAMES = (r"(?:(?:my|the|final|correct|best|selected|right)\s){0,3}(?:answer|ans|option|choice"
          r"|letter|alternative|selection|response|output|prediction|result|verdict|conclusion|solution)")
_LEADING = re.compile(
    r"(?:[^\w\n]{0,8}\d{1,2}[.)]\s)?[^\w\n]{0,8}(?:_{1,3})?"
    rf"(?:(?i:{_NAMES})(?:\s(?i:is)\b)?[^\w\n]{{0,8}}"
    r"|(?P<other>\w{1,20}(?:\s\w{1,20}){0,2})\s?[:=]\s?)?"
    r"(?P<letter>[A-Z]|[a-z](?=[.):]|[\W_]*$))(?![^\W_]|['’&]\w|-\w|[#+])"
    r"(?P<gap>(?:(?!-\d)[^\w\n]){0,8}_{0,3})(?P<rest>.*)", re.DOTALL)
# What may precede an option's words that are the whole answer: "The answer is: ".
_ANNOUNCED = re.compile(rf"^[\W_]{{0,40}}{_NAMES}\s{{0,9}}(?:is|:)(?:(?!-\d)[\W_]){{0,9}}",
                        re.IGNORECASE)
# Words that may follow a letter directly: "C because", "A, as".
_REASON = _pattern(r"(?:because|since|as|it|given|based|due)\b")
_VERB = _pattern(r"(?:because|since|as|it|given|based|due|is|was|seems|appears|would|fits|best"
                 r"|makes|or|nor|and|but|can|cannot|needs?|requires?)\b")
_COORDINATED = _pattern(r"(?:or|and(?! not\b)|oder|und|ou|et|o|y)\b|[/&]")
# What precedes a letter that is not the choice: "Least likely: C", "Second choice: C".
_UNSURE = _pattern(rf"{_DENIES}|{_HEDGES}")
# Further letters after the first: "A, B and D are wrong".
_ENUMERATED = re.compile(r"[,、] ?[A-Z](?![A-Za-z0-9]).")
# Announces that the options are gone through: "Let's consider each option:".
_GOES_THROUGH = _pattern(
    r"\b(?:(?:each|every)(?: \w+){0,2} (?:option|choice|answer|possibility)"
    r"|(?:all|the|these|analy\w+|evaluat\w+|examin\w+)(?: \w+){0,2}"
    r" (?:options|choices|possibilities))\b"
    r"(?:(?!\b(?:is|best|fits|answer)\b)[^.!?,]){0,40}[:：][\W_]*$"
    r"|\b(?:one by one|in turn|nacheinander)\b|(?:逐一|逐个|一一|分析)[^。]{0,12}[:：][\W_]*$"
    r"|\b(?:die|les|las|le|as|alle|jede\w*|chaque|cada|ogni) (?:\w+ )?"
    r"(?:optionen|option|opciones|opción|opções|opção|opzioni)\b[^.!?]{0,40}[:：][\W_]*$")
# Another option after the first, on one line: "A: 0.2, B: 0.8".
_FURTHER = re.compile(r"[\s,;(\[\"']([A-Z])[\"')\]]{0,2}\s?[:)=]")
_NOT_ANOTHER = _pattern(r"(?:(?:but |and )?not|rather than|instead of|unlike)"
                        r" (?:option )?\(?[A-Z]\b")
# A letter stands alone: no other letter, digit or apostrophe next to it, and not as in "C-shaped".
_LONE = re.compile(
    r"(?<![A-Za-z0-9À-ԯ'’&.])(?<!\w-)(?:[A-Z]|(?<=[(\[])[a-z](?=[)\]])|[АВСЕ])"
    r"(?![A-Za-z0-9À-ԯ'’&#+]|-\w|\.\w)")
_CYRILLIC = {"А": "A", "В": "B", "С": "C", "Е": "E"}
# Letters that are also words: the article, the pronoun, prepositions.
_ARE_WORDS = "AIEOYАВС"
# At a sentence's end, in brackets or after a mark: "boxing (C)", "in my opinion, C".
_AT_END = re.compile(rf"(?:(?:\(|^\W{{0,4}})(?i:(?:option|choice|answer|letter)\s|(?:{_NOUNS})\s?)?"
                     r"|[:=|>/→-]\s?)[A-Z][\W_]{0,6}$")


def _affirmed(clause: str, found: Iterable[re.Match[str]], options: _Options | None = None
              ) -> list[re.Match[str]]:
    """Return the matches in a clause that it does not deny, before or right after them.

    With ``options``, the matches are letters, and an option's own words deny nothing.
    """
    denial = _DENIAL.search(clause)
    bound = denial.end() if denial else len(clause)
    return [one for one in found
            if one.start() < bound and clause[max(one.start() - 4, 0):one.start()].lower() != " no "
            and not _DENIED_AFTER.match(
                options.after(_letter(one), clause[one.end():]) if options
                else clause[one.end():])]


# ------------------------------------------------------------------ what sentences say of letters

# Kinds of events: a choice of one letter; several letters together; a letter in a question; a
# denied one; a letter by itself; a letter in passing.
_CHOICE, _CONFLICT, _DOUBT, _DENY, _MENTION, _NAMED = range(6)


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


def _told(text: str, options: _Options) -> list[str]:
    """Return the sentences of a text, without those that go through a list of options."""
    sentences = [*_sentences(text)]
    leads = [_lead_of(one, options) for one in sentences]
    listed = _is_list([lead for lead in leads if lead]) or _is_announced(sentences)
    return [one.text for one, lead in zip(sentences, leads, strict=True) if not (lead and listed)]


def _events(text: str, options: _Options) -> list[_Event]:
    """Return what the sentences of a text say about letters, in order."""
    sentences = [*_sentences(text)]
    leads = [_lead_of(one, options) for one in sentences]
    listed = _is_list([lead for lead in leads if lead]) or _is_announced(sentences)
    alone = _run_of_letters(leads)
    events: list[_Event] = []
    for number, (sentence, lead) in enumerate(zip(sentences, leads, strict=True)):
        if number in alone or (lead and lead.rest and listed):
            events.append(_Event(_CONFLICT if number in alone else _DENY,
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


def _lead_of(sentence: _Sentence, options: _Options) -> _Lead | None:
    """Return the letter that begins a line and is not a word; None without one."""
    begins = sentence.begins_line or len(_stripped(sentence.text)) == 1
    found = _LEADING.match(sentence.text) if begins else None
    if found is None or sentence.text.rstrip(_QUOTES).endswith("?"):
        return None
    letter, gap, rest = found["letter"].upper(), found["gap"].strip(" _"), _stripped(found["rest"])
    before = sentence.text[:found.start("letter")]
    if (_UNSURE.search(before) and not _LONE.search(before)) or _ENUMERATED.match(gap + rest):
        return None
    if letter == "A" and ":" in gap and re.fullmatch("[B-Z]", rest):
        return _Lead(rest, "", gap, certain=True)  # of Q: and A:
    place = options.place(letter)
    text = "" if place is None else options.texts[place]
    follows = bool(text) and _plain(rest).startswith(text)
    if rest and (found["other"] or not (gap or follows or (
            found["letter"].isupper() and _REASON.match(rest)))):
        return None
    return _Lead(letter, rest, gap, not rest or _plain(rest) == text)


def _stripped(text: str) -> str:
    """Return a text from its first to its last letter or digit, with a number's minus sign."""
    words = [*re.finditer(r"(?:(?<!\w)-(?=\d))?[^\W_]", text)]
    return text[words[0].start():words[-1].end()] if words else ""


def _is_list(leads: Sequence[_Lead]) -> bool:
    """Whether lines begin with different letters and continue, so that they list the options."""
    return len({lead.letter for lead in leads if lead.rest}) > 1


def _is_announced(sentences: Sequence[_Sentence]) -> bool:
    """Whether a sentence says that the options will be gone through; it may break off after one."""
    return any(_GOES_THROUGH.search(one.text) for one in sentences[:-1])


def _run_of_letters(leads: Sequence[_Lead | None]) -> set[int]:
    """Return the indices of consecutive lines that are different single letters."""
    return {place for number, (one, other) in enumerate(pairwise(leads)) if one and other
            and not one.rest and not other.rest and one.letter != other.letter
            for place in (number, number + 1)}


def _of_lead(lead: _Lead, options: _Options) -> _Event:
    """Return what a line that begins with a letter says: its choice, unless the rest objects."""
    own, letters = options.place(lead.letter), frozenset(lead.letter)
    if own is None or _COORDINATED.match(lead.rest) or ("/" in lead.gap and len(lead.rest) == 1):
        return _Event(_CONFLICT, letters)
    first, *_ = [*_clauses(lead.rest), ""]
    if _NOT_ANOTHER.match(lead.rest):
        first = ""
    rest = options.after(lead.letter, lead.rest)
    said = f" {first}" if rest == lead.rest else next(iter(_clauses(rest)), "")
    if _DENIED_AFTER.match(said) or _SAYS_NO.search(f"{lead.gap}{rest[:_NEAR]}"):
        return _Event(_DENY, letters)
    named = options.named(first)
    beside = {_letter(one) for one in _affirmed(first, _letters_in(first, options))}
    others = beside.union(*(event.letters for event in _of_sentence(lead.rest, options)
                            if event.kind == _CHOICE)) - letters
    further = {one[1] for one in _FURTHER.finditer(lead.rest)} - letters
    if others or further or (named and own not in named):
        return _Event(_CONFLICT, letters | others)
    return _Event(_CHOICE, letters, STATED if lead.certain else LETTER)


def _of_sentence(sentence: str, options: _Options) -> Iterator[_Event]:
    """Yield what each clause of a sentence says about letters."""
    asked = sentence.rstrip(_QUOTES).endswith("?") or _ALTERNATIVE.match(sentence)
    denied = conditional = False
    for clause in _clauses(sentence):
        found = _letters_in(clause, options)
        again = denied and _AGAIN.match(clause)
        denied = bool(again or _DENIAL.search(clause))
        conditional |= bool(_CONDITION.search(clause))
        letters = frozenset(_letter(one) for one in found)
        if not letters:
            continue
        kept = frozenset(map(_letter, () if again else _affirmed(clause, found, options)))
        if not kept:
            yield _Event(_DENY, letters)
        elif asked or _HEDGE.search(clause) or (conditional and _IF.search(clause)):
            yield _Event(_DOUBT if asked else _DENY, kept)
        else:
            yield _of_clause(clause, [one for one in found if _letter(one) in kept], options)


def _of_clause(clause: str, found: Sequence[re.Match[str]], options: _Options) -> _Event:
    """Return what a clause says about its letters: a choice if it has a cue for a single one."""
    letters = frozenset(map(_letter, found))
    if len(letters) > 1:
        return _Event(_CONFLICT, letters)
    place = options.place(_letter(found[0]))
    named = options.named(clause[found[-1].end():])
    if place is None or (named and place not in named):
        return _Event(_CONFLICT, letters)
    if _STRONG.search(clause) or any(_leads_to(clause, one) for one in found):
        return _Event(_CHOICE, letters, weight=_weight(clause, found[0]))
    return _Event(_MENTION if _AT_END.search(clause) else _NAMED, letters)


def _weight(clause: str, letter: re.Match[str]) -> int:
    """Return the weight of a choice in a clause; see ``_Event``."""
    if _IF.search(clause):
        return 0
    before = clause[max(letter.start() - _NEAR, 0):letter.start()]
    ends = not clause[letter.end():].strip(_MARKS)
    return 2 if _OUTRIGHT.search(before) or (ends and _WEAK.search(before)) else 1


def _leads_to(clause: str, letter: re.Match[str]) -> bool:
    """Whether the words directly before a letter say that it is the answer."""
    return bool(_WEAK.search(clause[max(letter.start() - _NEAR, 0):letter.start()]))


def _letters_in(clause: str, options: _Options) -> list[re.Match[str]]:
    """Return the letters that stand alone in a clause and are not words."""
    found = (one for one in _LONE.finditer(clause) if not _is_word(clause, one, options))
    return [*islice(found, _MOST_LETTERS)]


def _letter(found: re.Match[str]) -> str:
    return _CYRILLIC.get(found[0], found[0].upper())


def _is_word(clause: str, found: re.Match[str], options: _Options) -> bool:
    """Whether a single letter is a word: an article before its noun, I, or a preposition."""
    if found[0] not in _ARE_WORDS:
        return False
    rest = clause[found.end():found.end() + _NEAR]
    if not re.match(r"\s\w", rest):
        return False
    rest = rest.lstrip()
    place = options.place(_letter(found))
    text = "" if place is None else options.texts[place]
    if text and _plain(rest).startswith(text[:_NEAR // 2]):
        return False
    return found[0] == "I" or not _VERB.match(rest)
