"""Built characters in the user's cache: building one takes a hundred times as long as reading it.
"""

from collections.abc import Callable
from contextlib import suppress
from zipfile import BadZipFile

from mimegen.base.user_cache import cached_bytes, keep_bytes
from mimegen.characters.character import Character
from mimegen.characters.packing import pack_character, unpack_character

KIND, SUFFIX = "characters", ".npz"


def kept_character(key: str, build: Callable[[], Character]) -> Character:
    """Return the character with a content key from the cache; build and keep it if it is missing.

    A character that was just built is unpacked too, so that both have the same arrays in the same
    order of memory.
    """
    packed = cached_bytes(KIND, key, SUFFIX)
    if packed is not None:
        with suppress(ValueError, KeyError, BadZipFile):
            return unpack_character(packed)
    packed = pack_character(build())
    keep_bytes(KIND, key, packed, SUFFIX)
    return unpack_character(packed)
