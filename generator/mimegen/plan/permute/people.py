"""How much people differ: in build, skin, hair and clothes."""

import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from mimegen.base.errors import RequestError
from mimegen.base.vectors import product
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import CharacterSpec, Garment, read_character
from mimegen.library.catalogue import Catalogue
from mimegen.motion.quaternions import FloatArray

# The compared properties, in the order of a person's numbers; colors are CIELAB, three numbers
# each.
PLAIN = ("stature_cm", "weight", "muscle", "age", "sex", "hair_length")
COLORS = ("skin", "hair", "top", "legs")
TOPS = ("top", "dress")
LEGS = ("trousers", "skirt", "dress")
HEADS = ("cap", "headscarf")
# Fractions of the limb's length above which sleeves and trouser legs count as long.
SLEEVES = 0.6
LEG = 0.8
# From linear sRGB to XYZ relative to the D65 white point (IEC 61966-2-1).
_TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722],
                    [0.0193, 0.1192, 0.9505]]) / np.array([[0.9505], [1.0], [1.089]])


def person_of(catalogue: Catalogue, avatar: str) -> FloatArray | None:
    """Return a person's numbers (26,) by the name in a row or a declaration.

    Returns None if there are none: for figures from files and people of an unknown library.
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
    """Return a described person's numbers (26,); NaN for clothes that are not worn."""
    body = person.phenotype
    worn: dict[str, Garment] = {garment.kind: garment for garment in person.outfit}
    outer = [_first(worn, ("jacket", *TOPS)), _first(worn, LEGS)]
    colors = [person.skin.color, person.hair.color, *(getattr(one, "color", None) for one in outer)]
    plain = [100 * body.height, body.weight, body.muscle, body.age, body.sex, person.hair.length]
    kinds = [float(zlib.crc32(repr(kind).encode())) for kind in kinds_of(person, worn)]
    return np.concatenate([plain, *(lab(color) for color in colors), kinds])


def _first(worn: Mapping[str, Garment], kinds: Sequence[str]) -> Garment | None:
    return next((worn[kind] for kind in kinds if kind in worn), None)


def kinds_of(person: CharacterSpec, worn: Mapping[str, Garment]) -> list[object]:
    """Return the kinds (8,) of hair, beard, clothes, headwear, glasses and patterns."""
    top, legs, head = (_first(worn, kinds) for kinds in (TOPS, LEGS, HEADS))
    patterns = [getattr(garment, "pattern", None) for garment in person.outfit]
    return [
        person.hair.kind, person.hair.beard,
        (getattr(top, "collar", None), getattr(top, "sleeve", 1.0) > SLEEVES), "jacket" in worn,
        (getattr(legs, "kind", None), getattr(legs, "leg", 1.0) > LEG),
        getattr(head, "kind", None), "glasses" in worn,
        [pattern.kind for pattern in patterns if pattern is not None],
    ]


def lab(color: Sequence[float] | None) -> FloatArray:
    """Return a linear sRGB color in CIELAB (3,) (CIE 1976, D65); NaN for None."""
    if color is None:
        return np.full(3, np.nan)
    xyz = product(_TO_XYZ, color)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distances(one: FloatArray, others: FloatArray, far: Mapping[str, float]) -> FloatArray:
    """Return the distances (N,) of a person (26,) from others (N, 26); above 1 they differ enough.

    A distance is the largest difference in any property, divided by the difference in ``far`` that
    still counts as similar. For ``clothes``, the outermost garments above and below count,
    whichever differs more. A garment that only one of the two wears makes the distance infinite.
    ``far["kinds"]`` is the number of kinds (see ``kinds_of``) that may differ at distance 1.
    """
    gaps = np.abs(others - one)
    plain, tints, kinds = np.split(gaps, [len(PLAIN), len(PLAIN) + 3 * len(COLORS)], axis=1)
    plain = plain / [far[name] for name in PLAIN]
    shades = np.linalg.norm(tints.reshape(len(others), len(COLORS), 3), axis=-1)
    colors = shades / [far["clothes" if name in ("top", "legs") else name] for name in COLORS]
    differing = (kinds > 0).sum(axis=1, keepdims=True) / far["kinds"]
    found = np.concatenate([plain, colors, differing], axis=1)
    missing = np.isnan(one) ^ np.isnan(others)
    largest = np.nan_to_num(found).max(axis=1)
    return np.asarray(np.where(missing.any(axis=1), np.inf, largest))
