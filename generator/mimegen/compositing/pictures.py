"""Read picture files safely: refuse those that are too large, and convert the rest to sRGB."""

import io
from contextlib import suppress
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms

# Just below Pillow's own limit of 178.9 million pixels.
MAX_PIXELS = 178_000_000
MAX_MIB = 512
# Modes that Pillow would clip at 255 when converting to 8 bits; all others it scales correctly.
_DEEP = ("I", "I;16", "I;16B", "I;16L", "I;16N", "F")
# Modes to which a file's color profile can apply; all others are converted to RGB first.
_PROFILED = ("L", "RGB", "CMYK")
# Tags of TIFF 6.0: BitsPerSample, PhotometricInterpretation, and its value for 0 as white.
_BITS = 258
_PHOTOMETRIC = 262
_WHITE_IS_ZERO = 0


def refuse_large_file(path: Path) -> None:
    """Raise ValueError for a file of more than MAX_MIB."""
    if path.stat().st_size > MAX_MIB * 2**20:
        raise ValueError(f"it has more than {MAX_MIB} MiB; save it smaller")


def refuse_large(stored: Image.Image) -> None:
    """Raise ValueError for a picture, not yet decoded, with more than MOST_PIXELS."""
    if stored.width * stored.height > MAX_PIXELS:
        raise ValueError(f"it {too_many_pixels()}")


def too_many_pixels() -> str:
    """Return the words that say that a picture has too many pixels, and what to do."""
    return f"has more than {MAX_PIXELS // 10**6} million pixels; save it smaller"


def in_8_bits(stored: Image.Image) -> Image.Image:
    """Return a picture with 8-bit samples; gray with more bits is scaled down, not clipped.

    White is the largest value of the file's number of bits, however bright the picture is, and 1
    for floating-point samples. EXIF data is kept.
    """
    if stored.mode not in _DEEP:
        return stored
    share = np.asarray(stored, np.float64) / _white(stored)
    if _tag(stored, _PHOTOMETRIC) == _WHITE_IS_ZERO:
        share = 1 - share
    image = Image.fromarray(np.round(np.clip(share, 0, 1) * 255).astype(np.uint8))
    # EXIF holds the picture's orientation.
    image.getexif().update(stored.getexif())
    return image


def is_transparent(stored: Image.Image) -> bool:
    """Return whether any pixel of a picture is not opaque."""
    return stored.has_transparency_data and bool(
        np.asarray(stored.convert("RGBA").getchannel("A")).min() < 255)


def in_srgb(stored: Image.Image) -> Image.Image:
    """Return an opaque picture as 8-bit RGB in sRGB, by the color profile of its file.

    Telephones save wider gamuts than sRGB, so without its profile a picture would look dull. EXIF
    data is kept.
    """
    exif = stored.getexif()
    image = in_8_bits(stored)
    if image.mode not in _PROFILED:
        image = image.convert("RGB")
    profile = stored.info.get("icc_profile")
    # Ignore profiles that are damaged or of another kind of device.
    with suppress(ImageCms.PyCMSError, OSError):
        if profile:
            own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            image = ImageCms.profileToProfile(image, own, ImageCms.createProfile("sRGB"),
                                              outputMode="RGB") or image
    image = image.convert("RGB")
    image.info.pop("exif", None)
    # EXIF holds the picture's orientation.
    image.getexif().update(exif)
    return image


def _white(stored: Image.Image) -> float:
    if stored.mode == "F":
        return 1.0
    bits = _tag(stored, _BITS)
    # Only TIFF files can have other numbers of bits; Pillow scales samples of PNG and PGM to 16.
    return float(2 ** (16 if bits is None else bits) - 1)


def _tag(stored: Image.Image, number: int) -> int | None:
    """Return a tag of a TIFF file, the first value if there are several; None without the tag."""
    tags = getattr(stored, "tag_v2", None)
    value = None if tags is None else tags.get(number)
    first = value[0] if isinstance(value, tuple) and value else value
    return first if isinstance(first, int) else None
