"""What an answer says to its reader: no reasoning, no tokens of chat templates, plain letters."""

import re
import unicodedata

MARKS = " \t*_`'\"\u2018\u2019\u201c\u201d()[]{}<>.:;,!#$\\"
_PREFIX = re.compile(r"^[\W_]{0,40}(?:final\s{1,9})?answer\s{0,9}(?:is|:)\s{0,9}", re.IGNORECASE)
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
TURN = re.compile(r"\n\s{0,9}(?:human|user|question|q)[ \d]{0,4}:", re.IGNORECASE)
_REPEATED = re.compile(r"([^\w\s])\1{3,}")
_BLANKS = re.compile(r"[^\S\n]+")
_COUNTERCLOCKWISE = re.compile(r"\b(?:counter|anti)[- ]?clockwise\b", re.IGNORECASE)
# In characters. Beyond this, output is usually endless repetition.
_LONGEST = 40_000


def spoken(output: str) -> str:
    """Return an output's text for the reader: no reasoning in tags, no tokens, plain letters."""
    return last_turn(written(output))


def final_phrase(output: str) -> str:
    """Return the last line of an output's text, without marks and without ``Answer:``."""
    lines = [line for line in spoken(output).splitlines() if line.strip(MARKS)]
    return _PREFIX.sub("", lines[-1]).strip(MARKS) if lines else ""


def written(output: str) -> str:
    """Return an output without reasoning in tags and tokens, in plain letters."""
    text = _without_thoughts(output)
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST // 4]}\n{text[-_LONGEST // 4 * 3:]}"
    return normal(_TOKENS.sub(_as_box, text))


def last_turn(text: str) -> str:
    """Return what an assistant says last, without long runs of one mark."""
    *_, text = _ROLE.split(text)
    return _REPEATED.sub(r"\1\1\1", _BLANKS.sub(" ", text)).strip()


def normal(text: str) -> str:
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


def plain_text(text: str) -> str:
    """Return a text in lower case, without marks around it, with single blanks."""
    return " ".join(text.lower().strip(MARKS).split())
