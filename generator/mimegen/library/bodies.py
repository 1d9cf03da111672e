"""Built characters: one under a key in a store, whichever machine made it."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

from mimegen.base.files import publish_first
from mimegen.characters.character import Character
from mimegen.characters.packing import pack_character, unpack_character
from mimegen.library.cast import CastMember, built
from mimegen.store.store import Store


@lru_cache(maxsize=8)
def body_of(member: CastMember, store: Store | None = None) -> Character:
    """Return the body that motions are brought onto, as the store has it.

    Built where nobody has built it yet, and published. Raises RequestError where it cannot be.
    """
    if store is None:
        return built(member)
    return _published(store, store.character(member.key), lambda: built(member))


def _published(store: Store, path: Path, build: Callable[[], Character]) -> Character:
    """Return the character of a file, building and publishing it where it is absent or damaged."""
    for _ in range(2):
        wait = store.waiter()
        try:
            return unpack_character(path.read_bytes())
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, BadZipFile):
            path.unlink(missing_ok=True)
        packed = pack_character(build())
        wait()
        publish_first(path, packed)
    return unpack_character(path.read_bytes())
