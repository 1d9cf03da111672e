"""Open photographs from cameras and the web: upright and in sRGB, or refused in one line."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import hypot
from pathlib import Path

from PIL import ExifTags, Image, ImageOps

from mimegen.base.errors import RequestError
from mimegen.base.file_signatures import refuse_foreign
from mimegen.compositing.pictures import (
    MAX_MIB,
    MAX_PIXELS,
    in_srgb,
    is_transparent,
    too_many_pixels,
)

# Diagonal of a 36 x 24 mm film frame, to which "35 mm" focal lengths refer (CIPA DCG-001, Guideline
# for Noting Digital Camera Specifications in Catalogs).
FILM_DIAGONAL_MM = 43.267
MIN_WIDTH = 320  # in pixels
# Larger ones are shrunk: no frame shows more detail, and every worker gets a copy.
MAX_SIDE_PX = 6000
LARGEST_PANORAMA = 8192
_MM_OF_UNIT = {2: 25.4, 3: 10.0}


@dataclass(frozen=True, eq=False)
class OpenedPhoto:
    """An upright photograph in sRGB.

    ``focal`` is its focal length in units of its longer side, None if its EXIF does not give it.
    ``shrunk`` is how many of its pixels stand for one of the file's, at most 1.
    """

    path: Path
    image: Image.Image
    focal: float | None
    shrunk: float = 1.0


def open_photo(path: Path, largest: int = MAX_SIDE_PX) -> OpenedPhoto:
    """Open a photograph, rotated by its EXIF, its longer side at most ``largest`` pixels.

    Raises RequestError, in one line, unless it is a single opaque picture of a usable size.
    """
    with _naming_file(path):
        refuse_foreign(path)
        if path.stat().st_size > MAX_MIB * 2**20:
            raise RequestError(f"{path}: is larger than {MAX_MIB} MiB; save a smaller version")
        with Image.open(path) as stored:
            _check(path, stored)
            focal, longer = exif_focal(stored), max(stored.size)
            # Much larger JPEG files are decoded at a half, a quarter or an eighth of their size.
            stored.draft(stored.mode, (largest, largest))
            _refuse_transparent(path, stored)
            image = ImageOps.exif_transpose(in_srgb(stored))
        image.thumbnail((largest, largest), Image.Resampling.LANCZOS)
    return OpenedPhoto(path, image, focal, max(image.size) / longer)


@contextmanager
def _naming_file(path: Path) -> Iterator[None]:
    """Turn errors that Pillow's readers raise for damaged or foreign files into RequestError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except FileNotFoundError as problem:
        raise RequestError(f"{path}: no such file") from problem
    except IsADirectoryError as problem:
        raise RequestError(f"{path}: is a folder; expected a photograph") from problem
    except Image.DecompressionBombError as problem:
        raise RequestError(f"{path}: {too_many_pixels()}") from problem
    except (OSError, SyntaxError, ValueError, EOFError) as problem:
        raise RequestError(f"{path}: cannot be read as a picture ({problem}); save it as JPEG or"
                           " PNG") from problem


def _check(path: Path, stored: Image.Image) -> None:
    """Raise RequestError for a photograph with several pictures or an unusable size."""
    width, height = stored.size
    pictures = getattr(stored, "n_frames", 1)
    # Phones store a second view in the same file, which is not an animation.
    if pictures > 1 and stored.format != "MPO":
        raise RequestError(f"{path}: is animated or has pages; save one of its {pictures} pictures"
                           " as a file of its own")
    if width * height > MAX_PIXELS:
        raise RequestError(f"{path}: {too_many_pixels()}")
    if min(width, height) < MIN_WIDTH / 2 or max(width, height) < MIN_WIDTH:
        raise RequestError(f"{path}: is {width} x {height} pixels; a background must be at least"
                           f" {MIN_WIDTH} wide, preferably 2000")


def _refuse_transparent(path: Path, stored: Image.Image) -> None:
    """Raise RequestError for a picture with transparent parts."""
    if is_transparent(stored):
        raise RequestError(f"{path}: has transparent parts; put it on a color and save it without"
                           " alpha")


def exif_focal(stored: Image.Image) -> float | None:
    """Return the focal length from EXIF in units of the picture's longer side, if known.

    It is computed from the "35 mm film" length, or from the length in mm and the sensor's
    resolution.
    """
    facts = stored.getexif().get_ifd(ExifTags.IFD.Exif)
    number = {name: _positive(facts.get(tag)) for name, tag in (
        ("film", ExifTags.Base.FocalLengthIn35mmFilm), ("length", ExifTags.Base.FocalLength),
        ("density", ExifTags.Base.FocalPlaneXResolution),
        ("unit", ExifTags.Base.FocalPlaneResolutionUnit),
        ("width", ExifTags.Base.ExifImageWidth))}
    longer = max(stored.size)
    if number["film"]:
        return number["film"] / FILM_DIAGONAL_MM * hypot(*stored.size) / longer
    unit = _MM_OF_UNIT.get(int(number["unit"] or 2))
    if number["length"] and number["density"] and number["width"] and unit:
        return number["length"] * number["density"] / unit / number["width"] * (
            stored.width / longer)
    return None


def _positive(value: object) -> float | None:
    """Return an EXIF value as a positive number, else None; files contain zeros, texts and 1/0."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if 0 < number < float("inf") else None
