"""Read the coded differences between the elements of an attribute stream.

Format: the Khronos specification of KHR_meshopt_compression, appendix A, mode 0.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Places = NDArray[np.intp]

# Elements of a group; all its differences have the same width in bits.
GROUP = 16
BLOCK_BYTES = 8192
MAX_IN_BLOCK = 256
# Width in bits of a group's differences by its two-bit code: in version 0, and in version 1 by the
# block's control code. 0 means that all are zero, 8 that they are whole bytes.
WIDTHS = (0, 2, 4, 8)
WIDTHS_BY_CONTROL = ((0, 1, 2, 4), (1, 2, 4, 8))
ALL_ZERO, LITERAL = 2, 3
# Groups unpacked at once, which limits the memory.
AT_ONCE = 1 << 15


class DamagedStreamError(ValueError):
    """A compressed stream is damaged."""


def read_deltas(data: bytes, end: int, count: int, stride: int, version: int) -> Bytes:
    """Return the coded differences (count, stride) between byte 1 and ``end`` of a stream."""
    block = min(BLOCK_BYTES // stride & ~(GROUP - 1), MAX_IN_BLOCK)
    groups = -(-count // GROUP)
    stream = _Stream(data, end, stride, version, np.zeros((groups * stride, GROUP), np.uint8))
    for start in range(0, count, block):
        stream.read_block(start, min(block, count - start))
    stream.fill()
    if stream.at != end:
        raise DamagedStreamError(f"{end - stream.at} bytes are left after its last element")
    rows = stream.rows.reshape(groups, stride, GROUP)
    return rows.transpose(0, 2, 1).reshape(-1, stride)[:count]


@dataclass
class _Stream:
    """A stream that is read block by block.

    ``rows`` hold the differences, one row for each group and byte of an element. ``groups`` lists
    by width (in bits) the rows that are still to be filled, and ``starts`` where the data of each
    begins in the stream.
    """

    data: bytes
    end: int
    stride: int
    version: int
    rows: Bytes
    at: int = 1
    starts: dict[int, list[int]] = field(default_factory=lambda: {1: [], 2: [], 4: [], 8: []})
    groups: dict[int, list[int]] = field(default_factory=lambda: {1: [], 2: [], 4: [], 8: []})

    def read_block(self, start: int, held: int) -> None:
        """Find the groups of a block of ``held`` elements that begins at element ``start``."""
        controls = self._controls() if self.version else None
        first, many = start // GROUP * self.stride, -(-held // GROUP)
        for place in range(self.stride):
            rows = range(first + place, first + place + many * self.stride, self.stride)
            control = controls[place] if controls else None
            if control == LITERAL:
                self._copy(rows, held)
            elif control != ALL_ZERO:
                self._walk(rows, WIDTHS if control is None else WIDTHS_BY_CONTROL[control])
        if sum(map(len, self.starts.values())) >= AT_ONCE:
            self.fill()

    def _controls(self) -> list[int]:
        """Return the control code of each byte of a block's elements: how it is stored."""
        head = self.at
        self._move(self.stride // 4)
        return [byte >> shift & 3 for byte in self.data[head : self.at] for shift in (0, 2, 4, 6)]

    def _move(self, size: int) -> None:
        """Move forward by ``size`` bytes. Raises DamagedStreamError beyond the end."""
        self.at += size
        if self.at > self.end:
            raise DamagedStreamError("it ends too early")

    def _copy(self, rows: range, held: int) -> None:
        """Copy the differences of one byte of a block that are stored without packing."""
        deltas = np.zeros(len(rows) * GROUP, np.uint8)
        head = self.at
        self._move(held)
        deltas[:held] = np.frombuffer(self.data, np.uint8, held, head)
        self.rows[rows.start : rows.stop : rows.step] = deltas.reshape(-1, GROUP)

    def _walk(self, rows: range, widths: tuple[int, ...]) -> None:
        """Note where the groups of one byte of a block begin, to fill them later."""
        head, data = self.at, self.data
        self._move(-(-len(rows) // 4))
        for number, row in enumerate(rows):
            width = widths[data[head + number // 4] >> number % 4 * 2 & 3]
            if width:
                self.starts[width].append(self.at)
                self.groups[width].append(row)
                small = data[self.at : self.at + 2 * width]
                self.at += len(small) if width == 8 else \
                    len(small) + sum(small.translate(FOLLOWING[width]))
        self._move(0)

    def fill(self) -> None:
        """Unpack the differences of all groups that were noted."""
        stream = np.frombuffer(self.data, np.uint8, self.end)
        for width, starts in self.starts.items():
            if starts and max(starts) + 2 * width > self.end:
                raise DamagedStreamError("it ends too early")
            if starts:
                offsets = np.array(starts)
                self.rows[self.groups[width]] = _narrow(stream, offsets, width) if width < 8 else \
                    stream[offsets[:, None] + np.arange(GROUP)]
                starts.clear()
                self.groups[width].clear()


def _following(width: int) -> bytes:
    """Return for each byte value how many of its differences refer to a byte that follows.

    Those are the differences of ``width`` bits whose bits are all set.
    """
    full = (1 << width) - 1
    return bytes(sum(byte >> shift & full == full for shift in range(0, 8, width))
                 for byte in range(256))


FOLLOWING = {width: _following(width) for width in (1, 2, 4)}


def _narrow(stream: Bytes, starts: Places, width: int) -> Bytes:
    """Return the differences (G, 16) of groups with ``width`` bits each.

    If all its bits are set, a difference is a whole byte that follows the group.
    """
    packed = stream[starts[:, None] + np.arange(2 * width)]
    shifts = np.arange(0, 8, width, dtype=np.uint8)
    # Differences of one bit are stored in the opposite order.
    shifts = shifts if width == 1 else shifts[::-1]
    full = (1 << width) - 1
    small = (packed[..., None] >> shifts & full).reshape(len(starts), GROUP)
    follows = small == full
    offsets = starts[:, None] + 2 * width + np.cumsum(follows, axis=1) - 1
    return np.where(follows, stream[np.where(follows, offsets, 0)], small)
