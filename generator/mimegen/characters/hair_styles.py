"""Styles of grown hairs, by kind of hair."""

from typing import NamedTuple


class HairStyle(NamedTuple):
    """How hairs of one kind grow; lengths are in metres.

    ``share`` is their number as a fraction of the requested one; each has ``points`` points.
    ``long`` is the range of their length; None for the whole length of the flow. They lie in
    ``layers``, outside of the hair's surface by fractions of its distance from the skin, end up to
    ``beyond`` its edge, and their tips stand up by ``lift``. ``per`` hairs form a lock, which pulls
    them together by the fraction ``clump``, sways by ``sway`` and waves by ``wave``. ``frizz`` is
    the irregularity of single hairs, ``radius`` that of a hair. ``coil`` is the range of radii that
    locks are wound with; None for straight ones. ``twist`` shifts each hair around the field at
    random, by up to this fraction of a turn; hairs with a twist have roots on the whole field.
    """

    share: float
    points: int
    long: tuple[float, float] | None
    layers: tuple[float, float]
    beyond: float
    lift: float
    per: int
    clump: float
    sway: float
    wave: float
    frizz: float
    radius: float = 0.00009
    coil: tuple[float, float] | None = None
    twist: float = 0.0


# Positional fields: share, points, long, layers, beyond, lift, per, clump, sway, wave, frizz.
SHORT = HairStyle(1.0, 7, (0.028, 0.060), (-0.6, 0.12), 0.007, 0.004, 26, 0.55, 0.004, 0.0008,
                  0.0007)
HANGING = HairStyle(1.0, 14, None, (-0.85, 0.12), 0.014, 0.002, 60, 0.62, 0.006, 0.003, 0.0014)
CROPPED = HairStyle(1.3, 4, (0.008, 0.014), (-0.35, 0.3), 0.003, 0.001, 6, 0.2, 0.001, 0.0,
                    0.0005)
COMBED = HairStyle(0.75, 10, None, (-0.5, 0.18), 0.0, 0.001, 40, 0.5, 0.0015, 0.0008, 0.0006)
TAIL = HairStyle(0.35, 12, None, (-0.9, 0.1), 0.02, 0.004, 40, 0.5, 0.006, 0.003, 0.0015)
BUN = HairStyle(0.35, 12, None, (-0.3, 0.1), 0.0, 0.001, 30, 0.6, 0.002, 0.002, 0.0012, twist=0.3)
CURLS = HairStyle(1.0, 16, (0.02, 0.04), (-0.25, 0.15), 0.006, 0.0, 22, 0.78, 0.003, 0.0, 0.0008,
                  coil=(0.0025, 0.0055))
