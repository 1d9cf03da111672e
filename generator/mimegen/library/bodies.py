"""Built characters, stored once per content key, whichever machine made them."""

from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile

from mimegen.base.files import Stamp, publish_first
from mimegen.characters.character import Character
from mimegen.characters.packing import pack_character, unpack_character
from mimegen.library.cast import CastMember, built, refuse_changed_member, written
from mimegen.store.store import Store


def body_of(member: CastMember, store: Store | None = None) -> Character:
    """Return the body of a cast member that motions are retargeted to, from the store.

    A body that the store lacks is built and added to it. Raises RequestError if that fails.
    """
    return _body_of(member, store, written(member))


@lru_cache(maxsize=8)
def _body_of(member: CastMember, store: Store | None, written: Stamp | None) -> Character:
    del written
    if store is None:
        return built(member)
    return _published(store, store.character(member.key), member)


def _published(store: Store, path: Path, member: CastMember) -> Character:
    """Return the character in a file; build and publish it if the file is missing or damaged."""
    for _ in range(2):
        wait = store.waiter()
        try:
            return unpack_character(path.read_bytes())
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, BadZipFile):
            path.unlink(missing_ok=True)
        packed = pack_character(built(member))
        refuse_changed_member(member)
        wait()
        publish_first(path, packed)
    return unpack_character(path.read_bytes())
