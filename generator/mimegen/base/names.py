"""Turn outside text into safe, unambiguous file names, and check names read from files."""

import re
import unicodedata
from functools import lru_cache

from mimegen.base.files import content_key

# In bytes. File systems allow 255; suffixes and the names of unfinished files need some of them.
MAX_NAME_BYTES = 140
_HASH_DIGITS = 12  # digits of the hash that is appended to changed names
_HASHED = re.compile(rf"(.*-)?[0-9a-f]{{{_HASH_DIGITS}}}")
# Device names reserved by Windows, with any suffix.
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_KEY = re.compile(r"[0-9a-f]{64}")
_DRIVE = re.compile(r"[A-Za-z]:")


def path_name(*texts: str) -> str:
    """Return one path component that stands for these texts, joined by dashes.

    It consists of letters of any script, digits, and ``_ . -``, has at most ``MAX_NAME_BYTES``
    bytes, and neither starts nor ends with ``.`` or ``-``. Texts that meet this are unchanged. If
    anything had to be changed, or if the parts could be separated in two ways, a hash of the texts
    is appended, so that different texts have different names (upper and lower case differ).
    """
    name = "-".join(filter(None, map(_clean, texts)))
    unambiguous = len(texts) == 1 or not any("-" in text for text in texts)
    as_they_are = name == "-".join(texts) and unambiguous and all(texts)
    if as_they_are and len(name.encode()) <= MAX_NAME_BYTES and not _HASHED.fullmatch(name):
        return name
    digits = content_key(*texts)[:_HASH_DIGITS]
    kept = name.encode()[:MAX_NAME_BYTES - _HASH_DIGITS - 1].decode(errors="ignore").strip("-.")
    return f"{kept}-{digits}" if kept else digits


@lru_cache(maxsize=1 << 16)
def _clean(text: str) -> str:
    """Return a text with all characters that names may not have replaced or removed."""
    normal = unicodedata.normalize("NFC", text)
    spelled = "".join(letter if _fits(letter) else "_" for letter in normal)
    clean = spelled.strip("-.")
    if clean != text:
        clean = re.sub("__+", "_", clean).strip("_-.")
    return f"_{clean}" if _DEVICES.fullmatch(clean) else clean


def _fits(letter: str) -> bool:
    return letter in "_.-" or unicodedata.category(letter)[0] in "LM" or letter.isdecimal()


def inner_path(text: str) -> str:
    """Return a relative path with ``/`` unchanged, if it cannot lead out of its folder.

    Raises ValueError otherwise.
    """
    parts = text.split("/")
    if (_DRIVE.match(text) or "\\" in text or "\0" in text
            or not {"", ".", ".."}.isdisjoint(parts)):
        raise ValueError("must be a path that stays within its folder")
    return text


def is_content_key(text: str) -> bool:
    """Return whether a text is a content key or a SHA-256 as mimegen writes them."""
    return _KEY.fullmatch(text) is not None


def content_key_text(text: str) -> str:
    """Return a content key from outside unchanged, after checking it.

    Keys become parts of paths in the store. Raises ValueError unless the text is 64 digits 0-9a-f.
    """
    if not is_content_key(text):
        raise ValueError("must be a content key: 64 digits 0-9a-f")
    return text


def plain_name(text: str) -> str:
    """Return a text unchanged, if it is a harmless path component.

    It must consist of ASCII letters, digits and ``_ . -``, at most ``MAX_NAME_BYTES`` of them, and
    not begin with a dot. Raises ValueError otherwise.
    """
    if len(text) > MAX_NAME_BYTES or not _PLAIN.fullmatch(text):
        raise ValueError("must be a plain name: letters, digits and _ . -, at most"
                         f" {MAX_NAME_BYTES}, not beginning with a dot")
    return text


def words(name: str) -> str:
    """Return a name with spaces instead of underscores."""
    return name.replace("_", " ")
