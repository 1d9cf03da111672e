"""How far people are apart: in build, skin, hair and clothes."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.vectors import product
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import CharacterSpec, read_character
from mimegen.library.catalogue import Catalogue
from mimegen.motion.quaternions import FloatArray

# What is compared, in the order of a person's numbers; colors are CIELAB, three numbers each.
PLAIN = ("stature_cm", "weight", "muscle", "age", "sex", "hair_length")
COLORS = ("skin", "hair", "top", "trousers")
# From linear sRGB to XYZ relative to D65's white (IEC 61966-2-1).
_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722],
                    [0.0193, 0.1192, 0.9505]]) / np.array([[0.9505], [1.0], [1.089]])


def person_of(catalogue: Catalogue, avatar: str) -> FloatArray | None:
    """Return a person's numbers (18,) by the name in a row or a declaration.

    None for who has none: figures of one's own, and people of a library that is not known.
    """
    word = avatar.removesuffix("_lights").replace("random_", "random:")
    if word.startswith("random:") and word.removeprefix("random:").isdecimal():
        return _drawn(int(word.removeprefix("random:")))
    file = catalogue.characters.get(word.removeprefix("lights:"))
    try:
        return None if file is None else numbers_of(read_character(file))
    except RequestError:
        return None


@lru_cache(maxsize=1 << 16)
def _drawn(seed: int) -> FloatArray:
    return numbers_of(sample_character(seed))


def numbers_of(person: CharacterSpec) -> FloatArray:
    """Return a described person's numbers (18,); NaN where somebody wears no such thing."""
    body, worn = person.phenotype, {garment.kind: garment for garment in person.outfit}
    colors = [person.skin.color, person.hair.color,
              *(getattr(worn.get(kind), "color", None) for kind in ("top", "trousers"))]
    plain = [100 * body.height, body.weight, body.muscle, body.age, body.sex, person.hair.length]
    return np.concatenate([plain, *(lab(color) for color in colors)])


def lab(color: Sequence[float] | None) -> FloatArray:
    """Return CIELAB (3,) of linear sRGB (CIE 1976, D65); NaN for none."""
    if color is None:
        return np.full(3, np.nan)
    xyz = product(_TO_XYZ, color)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(one: FloatArray, others: FloatArray, far: Mapping[str, float]) -> FloatArray:
    """Return how far (N,) a person (18,) is from others (N, 18); above 1 is far.

    It is the largest difference in any one thing, each as a share of what counts as far;
    ``clothes`` are top and trousers, of which the one that differs more counts. Who wears no such
    thing differs in it.
    """
    gaps = np.abs(others - one)
    plain = gaps[:, :len(PLAIN)] / [far[name] for name in PLAIN]
    shades = np.linalg.norm(gaps[:, len(PLAIN):].reshape(len(others), len(COLORS), 3), axis=-1)
    colors = shades / [far["clothes" if name in ("top", "trousers") else name] for name in COLORS]
    found = np.concatenate([plain, colors], axis=1)
    missing = np.isnan(one) ^ np.isnan(others)
    largest = np.nan_to_num(found).max(axis=1)
    return np.asarray(np.where(missing.any(axis=1), np.inf, largest))
