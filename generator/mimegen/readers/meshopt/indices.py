"""Unpack streams of indices: triangles ("mode 1") and other sequences ("mode 2").

Format: the Khronos specification of EXT_meshopt_compression, appendix A.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mimegen.readers.meshopt.deltas import DamagedStreamError

Indices = NDArray[np.uint32]

# First bytes of the two kinds of streams, and bytes at the end of each.
TRIANGLES, SEQUENCE = 0xE1, 0xD1
TABLE, TAIL = 16, 4
# Edges, and vertices, that are remembered.
SEEN = 16
WORD = 0xFFFFFFFF
MAX_NUMBER_BYTES = 5
TOO_SHORT = "it ends too early"


def unpack_sequence(data: bytes, count: int) -> Indices:
    """Return indices (count,) from their differences; each continues one of two sequences."""
    if len(data) < 1 + count + TAIL or data[0] != SEQUENCE:
        raise DamagedStreamError("it is no stream of indices of this length")
    numbers = _numbers(np.frombuffer(data, np.uint8, len(data) - 1 - TAIL, 1), count)
    signed = numbers >> 2
    steps = np.where(numbers & 2, ~signed, signed)
    found = np.empty(count, np.uint32)
    for baseline in (0, 1):
        mine = (numbers & 1) == baseline
        found[mine] = np.cumsum(steps[mine], dtype=np.uint32)
    return found


def _numbers(stream: NDArray[np.uint8], count: int) -> Indices:
    """Return numbers (count,) that are stored with seven bits per byte.

    The last byte of each number is below 128.
    """
    ends = np.flatnonzero(stream < 128)
    if len(ends) != count or (count and ends[-1] != len(stream) - 1):
        raise DamagedStreamError(f"it holds {len(ends)} numbers in place of {count}")
    starts = np.concatenate([[0], ends[:-1] + 1])
    if count and (ends - starts).max() >= MAX_NUMBER_BYTES:
        raise DamagedStreamError("one of its numbers is too long")
    found = np.zeros(count, np.uint32)
    for byte in range(MAX_NUMBER_BYTES):
        there = starts + byte <= ends
        found[there] |= (stream[starts[there] + byte] & 127).astype(np.uint32) << np.uint32(
            7 * byte)
    return found


def unpack_triangles(data: bytes, count: int) -> Indices:
    """Return the indices (count,) of triangles, three each."""
    if len(data) < 1 + count // 3 + TABLE or data[0] != TRIANGLES:
        raise DamagedStreamError("it is no stream of triangles of this length")
    return _Triangles(data, 1 + count // 3).indices(data[1 : 1 + count // 3])


@dataclass
class _Triangles:
    """The state of a reader of triangles.

    ``at`` is its position in ``data``; ``next`` the next new vertex; ``last`` the last vertex given
    by a difference; ``edges`` and ``vertices`` are the most recent ones.
    """

    data: bytes
    at: int
    next: int = 0
    last: int = 0
    edges: list[tuple[int, int]] = field(default_factory=list)
    vertices: list[int] = field(default_factory=list)

    def indices(self, codes: bytes) -> Indices:
        """Return all indices."""
        end = len(self.data) - TABLE
        table = self.data[end:]
        found: list[int] = []
        try:
            for code in codes:
                found += self._by_edge(code) if code < 0xF0 else self._separate_triangle(code,
                                                                                         table)
                del self.edges[:-SEEN], self.vertices[:-SEEN]
        except IndexError:
            raise DamagedStreamError(TOO_SHORT) from None
        if self.at != end:
            raise DamagedStreamError(f"{abs(end - self.at)} bytes are left or lacking at its end")
        return np.array(found, np.int64).astype(np.uint32)

    def _by_edge(self, code: int) -> tuple[int, int, int]:
        """Return a triangle that shares an edge with a recent one."""
        a, b = self.edges[-1 - (code >> 4)]
        kind = code & 15
        if kind == 0:
            c = self._next()
        elif kind < 13:
            c = self.vertices[-1 - kind]
        else:
            c = self._stated() if kind == 15 else (self.last + (1 if kind == 14 else -1)) & WORD
            self.last = c
        self.edges += (c, b), (a, c)
        if kind == 0 or kind >= 13:
            self.vertices.append(c)
        return a, b, c

    def _separate_triangle(self, code: int, table: bytes) -> tuple[int, int, int]:
        """Return a triangle of three new, recent or explicitly given vertices."""
        stated = code >= 0xFE
        kinds = self._byte() if stated else table[code & 15]
        if stated and kinds == 0:
            self.next = 0
        seen = self.vertices.copy()
        a = self._stated() if code == 0xFF else self._next()
        b = self._vertex(kinds >> 4, seen, stated)
        c = self._vertex(kinds & 15, seen, stated)
        self.edges += (b, a), (c, b), (a, c)
        self.vertices += [vertex for vertex, kind in ((a, 0), (b, kinds >> 4), (c, kinds & 15))
                          if kind in (0, 15)]
        return a, b, c

    def _vertex(self, kind: int, seen: list[int], stated: bool) -> int:
        """Return a vertex: 0 is a new one, 15 one given by a difference, others are recent ones."""
        if kind == 0:
            return self._next()
        if kind == 15:
            if not stated:
                raise DamagedStreamError("its table of triangles is damaged")
            return self._stated()
        return seen[-kind]

    def _next(self) -> int:
        """Return the next new vertex."""
        self.next = (self.next + 1) & WORD
        return (self.next - 1) & WORD

    def _byte(self) -> int:
        """Read the next byte."""
        self.at += 1
        return self.data[self.at - 1]

    def _stated(self) -> int:
        """Read a vertex that is given by its difference from ``last``."""
        number = 0
        for byte in range(MAX_NUMBER_BYTES):
            part = self._byte()
            number |= (part & 127) << 7 * byte
            if part < 128:
                break
        else:
            raise DamagedStreamError("one of its numbers is too long")
        number &= WORD
        step = ~(number >> 1) if number & 1 else number >> 1
        self.last = (self.last + step) & WORD
        return self.last
