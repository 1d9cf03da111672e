"""Strengths of the body's shape targets, from a description of the person."""

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from mimegen.base.yaml_file import Strict
from mimegen.characters.face_shapes import Face
from mimegen.motion.quaternions import FloatArray

# The words in the names of MakeHuman's targets for each parameter, and the values at which they act
# in full.
ANCHORS = {
    "sex": (("female", 0.0), ("male", 1.0)),
    "age": (("child", 10.0), ("young", 25.0), ("old", 90.0)),
    "muscle": (("minmuscle", 0.0), ("averagemuscle", 0.5), ("maxmuscle", 1.0)),
    "weight": (("minweight", 0.0), ("averageweight", 0.5), ("maxweight", 1.0)),
    "stature": (("minheight", 0.0), ("", 0.5), ("maxheight", 1.0)),
    "proportions": (("", 0.5), ("idealproportions", 1.0)),
    "cup_size": (("mincup", 0.0), ("averagecup", 0.5), ("maxcup", 1.0)),
}


class Origin(Strict):
    """Fractions of the three origins in the body data; they are normalised."""

    african: float = Field(default=0.0, ge=0, le=1)
    asian: float = Field(default=0.0, ge=0, le=1)
    caucasian: float = Field(default=0.0, ge=0, le=1)


class Phenotype(Strict):
    """The description of a body. 0.5 is average for the sex.

    ``height`` is in metres, ``age`` in years. ``sex`` runs from 0, female, to 1, male. ``face``
    holds the strengths of shapes in rigs/faces/shapes.yaml, -1 to 1.
    """

    sex: float = Field(ge=0, le=1)
    age: float = Field(ge=10, le=90)
    height: float = Field(ge=1.2, le=2.2)
    muscle: float = Field(default=0.5, ge=0, le=1)
    weight: float = Field(default=0.5, ge=0, le=1)
    proportions: float = Field(default=0.75, ge=0.5, le=1)
    cup_size: float = Field(default=0.5, ge=0, le=1)
    origin: Origin = Origin(african=1, asian=1, caucasian=1)
    face: Face = Field(default_factory=dict)


def target_strengths(
    phenotype: Phenotype, stature: float, target_names: Sequence[str]
) -> FloatArray:
    """Return how strongly each target (T,) acts; ``stature`` runs from 0, short, to 1, tall.

    This is MakeHuman's macro rule: a parameter blends linearly between its neighbouring anchors,
    and a target's strength is the product of the blends of all words in its name (MakeHuman's
    ``macro.json`` and ``humanmodifier.py``; the same rule is ``phenotype_blendshape_weights`` in
    the package ``anny``, Bregier et al. 2025).
    """
    blends = {"universal": 1.0, "averagefirmness": 1.0, **origin_shares(phenotype.origin)}
    values = {**phenotype.model_dump(exclude={"height", "origin", "face"}), "stature": stature}
    for parameter, anchors in ANCHORS.items():
        places = [place for _, place in anchors]
        for chosen, (word, _) in enumerate(anchors):
            peak = np.eye(len(anchors))[chosen]
            blends[word] = float(np.interp(values[parameter], places, peak))
    return np.array([
        np.prod([blends[word] for word in name.split("-")]) for name in target_names
    ])


def origin_shares(origin: Origin) -> dict[str, float]:
    """Return the three origins' normalised fractions; equal ones if none is given."""
    shares = origin.model_dump()
    total = sum(shares.values())
    return {name: share / total if total else 1 / 3 for name, share in shares.items()}
