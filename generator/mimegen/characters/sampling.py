"""People drawn at random: diverse, plausible, the same for the same seed."""

import colorsys
from typing import Any

import numpy as np

from mimegen.base.seeds import generator
from mimegen.characters.spec import CharacterSpec
from mimegen.motion.quaternions import FloatArray

ORIGINS = ("african", "asian", "caucasian")
# Mean stature of adult women and men and its spread, in metres (NCD-RisC 2016, rounded).
STATURE_M = ((1.63, 0.06), (1.76, 0.065))
# Typical light and dark skin of each origin, sRGB.
SKIN = {
    "african": ("#8a5a3c", "#4a2e20"),
    "asian": ("#e3b68f", "#b98258"),
    "caucasian": ("#edc3a4", "#c98f6a"),
}
HAIR_COLORS = ("#15100d", "#1f1510", "#2e1d13", "#4a2d1a", "#6b4526", "#a87b45", "#7a3a1c")
GRAY = "#9a948c"
EYE_COLORS = ("#3a2414", "#5b3a1e", "#6b5a2e", "#4a6278")
SHOE_COLORS = ("#1c1a19", "#e8e6e3", "#5a3a24", "#2b3442", "#8a1f1f")


def sample_character(seed: int) -> CharacterSpec:
    """Return the person of a seed."""
    draws = generator(seed, 0xC4A2)
    male = bool(draws.random() < 0.5)
    age = float(np.round(draws.uniform(18, 75)))
    shares = draws.dirichlet((0.35, 0.35, 0.35))
    mean, spread = STATURE_M[male]
    height = float(np.clip(draws.normal(mean, spread), 1.45, 2.05))
    return CharacterSpec.model_validate({
        "name": f"random-{seed}",
        "licence": "CC0-1.0",
        "phenotype": {
            "sex": float(draws.uniform(0.85, 1.0) if male else draws.uniform(0.0, 0.12)),
            "age": age,
            "height": height,
            "muscle": float(np.clip(draws.normal(0.55, 0.15), 0.15, 0.95)),
            "weight": float(np.clip(draws.normal(0.52, 0.14), 0.2, 0.9)),
            "proportions": float(draws.uniform(0.6, 0.95)),
            "cup_size": float(draws.uniform(0.3, 0.75)),
            "origin": dict(zip(ORIGINS, map(float, shares), strict=True)),
        },
        "skin": sampled_skin(shares, male, draws),
        "eyes": {"color": sampled_eyes(shares, draws)},
        "hair": sampled_hair(shares, male, age, draws),
        "outfit": sampled_outfit(male, draws),
        "seed": seed,
    })


def sampled_skin(shares: FloatArray, male: bool, draws: np.random.Generator) -> dict[str, Any]:
    """Return skin between light and dark of the origins, and stubble on some men."""
    depth = draws.beta(2, 2)
    color = sum(
        share * ((1 - depth) * rgb(SKIN[origin][0]) + depth * rgb(SKIN[origin][1]))
        for origin, share in zip(ORIGINS, shares, strict=True)
    )
    beard = float(draws.choice([0.0, 0.2, 0.5, 0.9])) if male else 0.0
    return {"color": hex_color(np.asarray(color)), "redness": float(draws.uniform(0.3, 0.6)),
            "beard": beard}


def sampled_eyes(shares: FloatArray, draws: np.random.Generator) -> str:
    """Return an iris color; light ones only where the caucasian share is large."""
    known = len(EYE_COLORS) if shares[2] > 0.6 else 2
    return EYE_COLORS[int(draws.integers(known))]


def sampled_hair(
    shares: FloatArray, male: bool, age: float, draws: np.random.Generator
) -> dict[str, Any]:
    """Return hair: darker away from Europe, graying with age, longer on women."""
    known = len(HAIR_COLORS) if shares[2] > 0.6 else 3
    color = rgb(HAIR_COLORS[int(draws.integers(known))])
    gray = np.clip((age - 40) / 35 + draws.normal(0, 0.15), 0, 1)
    length = 0.0 if male else float(draws.choice([0.0, 0.42, 0.5, 0.58]))
    return {
        "color": hex_color((1 - gray) * color + gray * rgb(GRAY)),
        "length": length,
        "volume": float(draws.uniform(0.15, 0.75)),
        "brow_height": float(draws.uniform(0.007, 0.010) if male else draws.uniform(0.005, 0.007)),
    }


def sampled_outfit(male: bool, draws: np.random.Generator) -> list[dict[str, Any]]:
    """Return shoes, trousers and a top whose colors stand apart."""
    hue = draws.random()
    top = hex_color(np.array(colorsys.hsv_to_rgb(
        hue, draws.uniform(0.1, 0.6), draws.uniform(0.5, 0.85))))
    trousers = hex_color(np.array(colorsys.hsv_to_rgb(
        (0.58 + draws.normal(0, 0.04)) % 1, draws.uniform(0.05, 0.55), draws.uniform(0.15, 0.42))))
    tight = 0.5 if male else 0.25
    shoe = SHOE_COLORS[int(draws.integers(len(SHOE_COLORS)))]
    return [
        {"kind": "shoes", "color": shoe, "sole_color": str(draws.choice(["#d9d6d0", "#191817"])),
         "sole_height": float(draws.uniform(0.018, 0.03))},
        {"kind": "trousers", "color": trousers,
         "leg": float(draws.choice([1.0, 1.0, 1.0, 0.55])),
         "looseness": float(np.clip(draws.normal(tight, 0.15), 0, 1))},
        {"kind": "top", "color": top,
         "sleeve": float(draws.choice([0.28, 0.36, 0.93])),
         "length": float(draws.uniform(0.5, 0.85)),
         "neckline": 0.0 if male else float(draws.uniform(0.0, 0.06)),
         "looseness": float(np.clip(draws.normal(tight + 0.05, 0.15), 0, 1))},
    ]


def rgb(color: str) -> FloatArray:
    """Return sRGB channels (3,), 0 to 1, of ``"#rrggbb"``."""
    return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255


def hex_color(channels: FloatArray) -> str:
    """Return ``"#rrggbb"`` of sRGB channels (3,), 0 to 1."""
    return "#" + "".join(f"{round(255 * float(c)):02x}" for c in np.clip(channels, 0, 1))
