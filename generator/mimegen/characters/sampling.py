"""Draw people at random: diverse, plausible, and the same for the same seed."""

from typing import Any

import numpy as np

from mimegen.base.easing import ramp
from mimegen.base.seeds import generator
from mimegen.characters.colors import from_lab
from mimegen.characters.spec import CharacterSpec
from mimegen.characters.wardrobe import chosen, drawn, hex_color, random_people, rgb

ORIGINS = ("african", "asian", "caucasian")
AGES = (18.0, 80.0)
# Mean stature of adult women and men and its standard deviation, in metres (NCD-RisC 2016,
# rounded).
STATURE_M = ((1.63, 0.065), (1.76, 0.07))
# Skin by its individual typology angle (Chardon et al. 1991), from very light, above 55 degrees, to
# dark, below -30: the angle in degrees, and CIELAB's a* and b*.
SKIN = np.array([[62, 8, 13], [41, 10, 16], [28, 12, 18], [10, 13, 19], [-30, 11, 14], [-62, 8, 9]])
GRAY = "#a7a29b"
# Probabilities of headscarves (for women whose arms and legs are covered), caps, glasses (for the
# young and for the old), dresses (for women), and jackets.
HEADSCARVES = 0.3
CAPS = 0.12
GLASSES = (0.15, 0.4)
DRESSES = 0.16
JACKETS = 0.3
# Garments that are put on last, in this order: a scarf over a jacket would intersect it in motion.
LAST = ("headscarf", "jacket", "cap", "glasses")
# Quantities that are spread evenly over any run of seeds, with their step from one seed to the
# next, in units of 2^-32. The steps are powers of the root of x^8 = x + 1 (Roberts, "The
# unreasonable effectiveness of quasirandom sequences").
STEPS = {"sex": 3915259345, "age": 3569120481, "skin": 3253582939, "build": 2965941329,
        "hair": 2703729436, "clothes": 2464699080, "hue": 2246800835}


def even(seed: int, name: str) -> float:
    """Return a number from 0 to 1; successive seeds spread it evenly, for each ``name``."""
    return ((seed * STEPS[name] + 2**31) % 2**32) / 2**32


def sample_character(seed: int) -> CharacterSpec:
    """Return the random person of a seed."""
    draws = generator(seed, 0xC4A2)
    male = even(seed, "sex") < 0.5
    age = float(np.round(AGES[0] + (AGES[1] - AGES[0]) * even(seed, "age")))
    tone = even(seed, "skin")
    outfit = sampled_outfit(seed, male, draws)
    return CharacterSpec.model_validate({
        "name": f"random-{seed}",
        "licence": "CC0-1.0",
        "phenotype": sampled_body(seed, male, age, draws),
        "skin": sampled_skin(tone, male, draws),
        "eyes": {"color": sampled_eyes(tone, draws)},
        "hair": sampled_hair(seed, male, age, tone, draws),
        "outfit": tucked([*outfit, *sampled_extras(outfit, male, age, draws)]),
        "seed": seed,
    })


def sampled_body(seed: int, male: bool, age: float,
                 draws: np.random.Generator) -> dict[str, Any]:
    """Return a random phenotype: one of the builds, with some variation."""
    builds = [*random_people().builds.values()]
    build = builds[int(even(seed, "build") * len(builds))]
    mean, spread = STATURE_M[male]
    faces = generator(seed, "face")
    return {
        "sex": float(draws.uniform(0.85, 1.0) if male else draws.uniform(0.0, 0.12)),
        "age": age,
        "height": float(np.clip(draws.normal(mean, spread), 1.45, 2.05)),
        "muscle": float(np.clip(build.muscle + draws.normal(0, 0.06), 0.1, 1.0)),
        "weight": float(np.clip(build.weight + draws.normal(0, 0.05), 0.1, 1.0)),
        "proportions": float(draws.uniform(0.55, 0.95)),
        "cup_size": float(draws.uniform(0.25, 0.75)),
        "origin": dict(zip(ORIGINS, map(float, faces.dirichlet((0.7, 0.7, 0.7))), strict=True)),
        "face": sampled_face(male, age, faces),
    }


def sampled_face(male: bool, age: float, draws: np.random.Generator) -> dict[str, float]:
    """Return a random face: the strength of one outline and of every other shape.

    It does not depend on the color of the skin.
    """
    people = random_people()
    outline = str(draws.choice(people.outlines.kinds))
    old = float(ramp(age, 35.0, 80.0))
    face = {outline: float(draws.uniform(*people.outlines.strength))}
    for name, shape in people.faces.items():
        usual = shape.middle + (shape.men if male else -shape.men) + shape.old * old
        face[name] = float(np.clip(usual + shape.spread * draws.uniform(-1, 1), -1, 1))
    return face


def sampled_skin(tone: float, male: bool, draws: np.random.Generator) -> dict[str, Any]:
    """Return skin of a ``tone`` from 0, very light, to 1, dark; some men have stubble."""
    angle = SKIN[0, 0] + tone * (SKIN[-1, 0] - SKIN[0, 0])
    a, b = (np.interp(-angle, -SKIN[:, 0], SKIN[:, column]) for column in (1, 2))
    light = 50 + np.tan(np.radians(angle)) * b
    color = from_lab([light, a + draws.normal(0, 0.8), b + draws.normal(0, 0.8)])
    beard = float(draws.choice([0.0, 0.0, 0.25, 0.5])) if male else 0.0
    return {"color": tuple(map(float, color)), "redness": float(draws.uniform(0.3, 0.6)),
            "beard": beard}


def sampled_eyes(tone: float, draws: np.random.Generator) -> str:
    """Return a random iris color; light ones only with light skin."""
    colors = random_people().eye_colors
    return colors[int(draws.integers(len(colors) if tone < 0.35 else 2))]


def sampled_hair(seed: int, male: bool, age: float, tone: float,
                 draws: np.random.Generator) -> dict[str, Any]:
    """Return random hair and, for men, a beard.

    Light colors occur only with light skin; hair grays with age.
    """
    people = random_people()
    hair = drawn(chosen(people.hair, male, even(seed, "hair")), draws, 0.0)
    known = len(people.hair_colors) if tone < 0.4 else 3
    color = rgb(people.hair_colors[int(draws.integers(known))])
    gray = np.clip((age - 42) / 25 + draws.normal(0, 0.2), 0, 1)
    often = np.array([*people.beards.values()])
    beard = str(draws.choice([*people.beards], p=often / often.sum()))
    return hair | {
        "color": hex_color((1 - gray) * color + gray * rgb(GRAY)),
        "receding": receding(hair, age, draws) if male else 0.0,
        "beard": beard if male else "none",
        "brow_height": float(draws.uniform(0.007, 0.010) if male else draws.uniform(0.005, 0.007)),
    }


def receding(hair: dict[str, Any], age: float, draws: np.random.Generator) -> float:
    """Return how far a man's hairline has gone back, 0 to 1; less for men with long hair."""
    drawn_back = float(np.clip(draws.normal((age - 35) / 60, 0.25), 0, 1))
    return drawn_back * (0.3 if hair.get("length", 0.0) > 0.3 else 1.0)


def sampled_outfit(seed: int, male: bool, draws: np.random.Generator) -> list[dict[str, Any]]:
    """Return random shoes and clothes, from the skin outwards, in colors that differ clearly."""
    people, hue, place = random_people(), even(seed, "hue"), even(seed, "clothes")
    walks = generator(seed, "shoes")
    shoes = drawn(chosen(people.shoes, male, walks.random()), walks, walks.random())
    if not male and draws.random() < DRESSES:
        return [shoes, drawn(chosen(people.dresses, male, draws.random()), draws, hue)]
    legs = drawn(chosen(people.legs, male, draws.random()), draws, draws.random())
    top = drawn(chosen(people.tops, male, place), draws, hue)
    plain = top.get("collar") is None and draws.random() < JACKETS
    over = [drawn(chosen(people.over, male, draws.random()), draws, (hue + 0.4) % 1)]
    return [shoes, legs, top, *(over if plain else [])]


def tucked(outfit: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return an outfit in the order in which it is worn, with the headscarf under the jacket."""
    last = [garment for kind in LAST for garment in outfit if garment["kind"] == kind]
    return [*(garment for garment in outfit if garment["kind"] not in LAST), *last]


def sampled_extras(outfit: list[dict[str, Any]], male: bool, age: float,
                   draws: np.random.Generator) -> list[dict[str, Any]]:
    """Return random glasses and headwear; headscarves go with long sleeves and covered legs."""
    people, head = random_people(), draws.random()
    covered = all(garment.get("leg", 1.0) > 0.55 for garment in outfit) \
        and outfit[-1].get("sleeve", 0.93) > 0.85
    worn = []
    if not male and covered and head < HEADSCARVES:
        worn.append(people.extras["headscarf"])
    elif head > 1 - CAPS:
        worn.append(people.extras["cap"])
    if draws.random() < GLASSES[0] + (GLASSES[1] - GLASSES[0]) * ramp(age, 35.0, 60.0):
        worn.append(people.extras["glasses"])
    return [drawn(template, draws, draws.random()) for template in worn]
