"""Keyframes of clips, and their perceptual hashes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import imagehash
import imageio_ffmpeg
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mimegen.base.errors import RequestError
from mimegen.base.media import ffmpeg_input
from mimegen.manifest.file import clip_path, read_manifest

# Positions of the keyframes, as fractions of a clip.
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
# Side of a hash in bits; docs/research/unseen.md compares it with others.
HASH_SIZE = 16
# Width and height of thumbnails, in pixels.
SMALL = (160, 90)


@dataclass(frozen=True, eq=False)
class ClipAppearance:
    """The look of a clip: hashes of its keyframes, ``bits`` (5, 256), and thumbnails of them."""

    name: str
    action: str
    bits: NDArray[np.bool_]
    pictures: tuple[Image.Image, ...]


def looks_of(folder: Path) -> list[ClipAppearance]:
    """Return the looks of all clips in a folder's manifest, in its order.

    Raises RequestError if it has none, or a clip is missing or cannot be read.
    """
    rows = read_manifest(folder)
    if not rows:
        raise RequestError(f"{folder}: has no manifest.jsonl that names clips")
    return [look_of(clip_path(folder, row), row.sample_id, row.action) for row in rows]


def look_of(clip: Path, name: str, action: str) -> ClipAppearance:
    """Return the look of a clip. Raises RequestError if it is missing or cannot be read."""
    pictures = keyframes(clip)
    return ClipAppearance(name, action, np.stack([_bits(picture) for picture in pictures]),
                          tuple(picture.resize(SMALL, Image.Resampling.LANCZOS) for picture
                                in pictures))


def keyframes(clip: Path) -> list[Image.Image]:
    """Return the frames at ``SHARES`` of a clip. Raises RequestError if it has no frames."""
    if not clip.is_file():
        raise RequestError(f"{clip}: no such clip, though its manifest lists it")
    try:
        *params, _, address = ffmpeg_input(clip)
        reader = imageio_ffmpeg.read_frames(address, input_params=params)
        size = next(reader)["size"]
        frames = list(reader)
    except (OSError, StopIteration, RuntimeError) as problem:
        raise RequestError(f"{clip}: cannot be read as a video") from problem
    if not frames:
        raise RequestError(f"{clip}: contains no frames")
    return [Image.frombytes("RGB", size, frames[round(share * (len(frames) - 1))])
            for share in SHARES]


def _bits(picture: Image.Image) -> NDArray[np.bool_]:
    """Return the bits (256,) of a picture's perceptual hash (DCT; Zauner 2010)."""
    return np.asarray(imagehash.phash(picture, HASH_SIZE).hash, np.bool_).ravel()


def distances(ones: Sequence[ClipAppearance],
              others: Sequence[ClipAppearance]) -> NDArray[np.float64]:
    """Return the distances between looks (N, M): 0 if identical, about 0.5 if unrelated.

    Each keyframe contributes the fraction of bits that differ from the other clip's nearest
    keyframe, averaged over both directions, so that a shift in time adds little.
    """
    gaps = np.stack([_gaps(one, others) for one in ones])
    return np.asarray((gaps.min(axis=3).mean(axis=2) + gaps.min(axis=2).mean(axis=2)) / 2)


def _gaps(one: ClipAppearance, others: Sequence[ClipAppearance]) -> NDArray[np.float64]:
    """Return the fractions of bits (M, 5, 5) that differ between keyframes."""
    bits = np.stack([other.bits for other in others])
    return np.asarray((one.bits[None, :, None] ^ bits[:, None]).mean(axis=-1))
