"""Random people in the clothes of other random people."""

from mimegen.base.seeds import generator
from mimegen.characters.sampling import even, sample_character, sampled_outfit, tucked
from mimegen.characters.spec import CharacterSpec

# Kinds of garments that belong to the person rather than to the clothes.
KEPT_PIECES = ("glasses",)


def redressed(seed: int, clothes: int) -> CharacterSpec:
    """Return the person of one seed in the clothes of another seed, without headwear."""
    person = sample_character(seed).model_dump(mode="json")
    worn = sampled_outfit(clothes, even(seed, "sex") < 0.5, generator(clothes, "clothes"))
    kept = [garment for garment in person["outfit"] if garment["kind"] in KEPT_PIECES]
    return CharacterSpec.model_validate(person | {
        "name": f"random-{seed}-{clothes}", "outfit": tucked([*worn, *kept])})
