"""Bake rigs/flesh.npz: how skin follows helper joints, fitted to flesh that deforms elastically.

    python tools/bake_flesh.py rigs/flesh.npz

An arm with half of the trunk, and a leg with the pelvis, are filled with tetrahedra and brought
into some poses each. What lies along the bones, deep in rib cage or pelvis is moved rigidly; the
rest takes the form of least energy that keeps its volume, and parts on both sides of a bent
joint stay on their sides of the plane that halves its angle (flesh_baking/elastic.py). Each vertex
then gets the weights, not negative, with which linear blending of joints and helpers comes nearest
to all of that (flesh_baking/fitting.py), on a man's and a woman's body at once. On top of that
movers press apart what still lies inside another part (flesh_baking/pressing.py).
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from flesh_baking.fitting import Examples, fitted
from flesh_baking.folds import FOLDS
from flesh_baking.limbs import ARM, LEG
from flesh_baking.pressing import Pressing, moves_of, with_pressing
from flesh_baking.sculpted import Sculpted
from flesh_baking.weights import mirrored, whole
from mimegen.characters.helpers import strongest, with_helpers
from mimegen.characters.phenotype import Phenotype

BODIES = (Phenotype(sex=1.0, age=35, height=1.78), Phenotype(sex=0.0, age=35, height=1.66))
INFLUENCES = 8


def main() -> None:
    """Simulate, fit and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", type=Path)
    target = parser.parse_args().target
    bodies = [Sculpted.of(phenotype) for phenotype in BODIES]
    limbs = [(limb, *fitted(limb, [Examples.of(body, limb) for body in bodies], bodies[0].faces))
             for limb in (ARM, LEG)]
    weights, fits = whole(limbs, bodies[0]), []
    for fold in FOLDS:
        fits.append(Pressing(fold, bodies, weights))
        fits[-1].run()
        weights = with_pressing(weights, fits[-1], bodies[0])
    weights = mirrored(weights, bodies[0])
    joints, values = strongest(weights, INFLUENCES)
    baked: dict[str, Any] = {
        "joint_names": np.array(with_helpers(bodies[0].rest).names),
        "joints": joints.astype(np.uint8), "weights": np.round(65535 * values).astype(np.uint16),
        "moves": moves_of(fits)}
    np.savez_compressed(target, **baked)
    print(f"{target}: {target.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
