"""Merkle trees as in RFC 6962, section 2.1, and RFC 9162.

Leaves and nodes are hashed with different first bytes, so that neither can pass for the other. The
maintained library for this, pymerkle, is under the GPL, which is incompatible with mimegen's
licence.
"""

import hashlib
from collections.abc import Sequence


def leaf_hash(content: bytes) -> bytes:
    """Return the hash of a leaf."""
    return hashlib.sha256(b"\0" + content).digest()


def _node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\1" + left + right).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    """Return the root over the leaves' hashes; without leaves, the hash of an empty text."""
    level = list(leaves) or [hashlib.sha256().digest()]
    while len(level) > 1:
        level = _above(level)
    return level[0]


def _above(level: Sequence[bytes]) -> list[bytes]:
    """Return the next level up; the last node of an odd number moves up unchanged."""
    nodes = [_node_hash(*level[at:at + 2]) for at in range(0, len(level) - 1, 2)]
    return nodes + list(level[len(level) - len(level) % 2:])


def path_of(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """Return the sibling hashes on the way from a leaf to the root, lowest first."""
    path, level = [], list(leaves)
    while len(level) > 1:
        if (sibling := index ^ 1) < len(level):
            path.append(level[sibling])
        level, index = _above(level), index // 2
    return path


def root_from(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Return the root that follows from a leaf and its path in a tree of ``size`` leaves.

    Returns None if the path has the wrong length, or there is no such leaf.
    """
    left = list(path)
    if not 0 <= index < size:
        return None
    while size > 1:
        if index ^ 1 < size:
            if not left:
                return None
            sibling = left.pop(0)
            leaf = _node_hash(sibling, leaf) if index % 2 else _node_hash(leaf, sibling)
        index, size = index // 2, (size + 1) // 2
    return None if left else leaf
