"""Unpack streams of attributes ("mode 0"): elements from the differences between them.

Format: the Khronos specifications of EXT_meshopt_compression (version 0) and
KHR_meshopt_compression (version 1), appendix A.
"""

from typing import Any

import numpy as np

from mimegen.readers.meshopt.deltas import Bytes, DamagedStreamError, read_deltas

# First byte of a stream -> version of the format.
VERSIONS = {0xA0: 0, 0xA1: 1}
# Least bytes at the end of a stream in versions 0 and 1. They hold its first element and, in
# version 1, the kind of each channel of four bytes.
MIN_TAIL = (32, 24)
# Kinds of channels: differences of bytes, of 16-bit words, or exclusive-or of 32-bit words.
BYTES, WORDS, XOR = 0, 1, 2


def unpack_attributes(data: bytes, count: int, stride: int) -> Bytes:
    """Return ``count`` elements of ``stride`` bytes (count, stride).

    Raises DamagedStreamError for a stream that ends early or late, or is of another kind.
    """
    version = VERSIONS.get(data[0]) if data else None
    if version is None:
        raise DamagedStreamError("it does not begin as a stream of attributes does")
    channels = stride // 4 if version else 0
    tail = max(stride + channels, MIN_TAIL[version])
    if len(data) < 1 + tail:
        raise DamagedStreamError("it ends before its first element")
    kinds = np.frombuffer(data[len(data) - channels :] if version else bytes(stride // 4), np.uint8)
    first = np.frombuffer(data, np.uint8, stride, len(data) - stride - channels)
    return _summed(read_deltas(data, len(data) - tail, count, stride, version), first, kinds)


def _summed(deltas: Bytes, first: Bytes, kinds: Bytes) -> Bytes:
    """Return elements from their coded differences, by the kind of each channel of four bytes."""
    elements = np.empty_like(deltas)
    for channel, both in enumerate(kinds):
        part = slice(4 * channel, 4 * channel + 4)
        coded, start = np.ascontiguousarray(deltas[:, part]), first[part]
        kind, turn = int(both) & 15, int(both) >> 4
        if kind > XOR or (turn and kind != XOR):
            raise DamagedStreamError(f"its channel {channel} is of a kind that does not exist")
        elements[:, part] = _xored(coded, start, turn) if kind == XOR else \
            _added(coded, start, np.dtype("<u2" if kind == WORDS else "u1"))
    return elements


def _added(coded: Bytes, first: Bytes, kind: np.dtype[Any]) -> Bytes:
    """Return the bytes (N, 4) of numbers from their differences, whose lowest bit is the sign."""
    numbers = coded.view(kind)
    numbers = np.where(numbers & 1, ~(numbers >> 1), numbers >> 1).astype(kind)
    sums = np.cumsum(numbers, axis=0, dtype=kind) + first.view(kind)
    return np.ascontiguousarray(sums, kind).view(np.uint8)


def _xored(coded: Bytes, first: Bytes, turn: int) -> Bytes:
    """Return the bytes (N, 4) of words from the exclusive-or of successive ones.

    These are stored rotated left by ``turn`` bits.
    """
    bits = coded.view("<u4")
    bits = bits >> np.uint32(turn) | bits << np.uint32((32 - turn) & 31)
    return np.ascontiguousarray(np.bitwise_xor.accumulate(bits, axis=0) ^ first.view("<u4"),
                                "<u4").view(np.uint8)

