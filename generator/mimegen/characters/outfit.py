"""Garments: the function that makes each kind."""

from collections.abc import Callable, Mapping
from typing import Any

from mimegen.characters.body import Body
from mimegen.characters.headwear import make_cap, make_glasses, make_headscarf
from mimegen.characters.piece import CharacterPiece
from mimegen.characters.shoes import make_shoes
from mimegen.characters.skirt import make_dress, make_skirt
from mimegen.characters.spacesuit.suit import make_spacesuit
from mimegen.characters.spec import Garment
from mimegen.characters.top import make_top
from mimegen.characters.trousers import make_trousers

# Each function takes the garment's description (a class of the union ``Garment``) and the body.
MAKERS: Mapping[str, Callable[[Any, Body], CharacterPiece]] = {
    "top": make_top,
    "jacket": make_top,
    "trousers": make_trousers,
    "skirt": make_skirt,
    "dress": make_dress,
    "shoes": make_shoes,
    "glasses": make_glasses,
    "cap": make_cap,
    "headscarf": make_headscarf,
    "spacesuit": make_spacesuit,
}


def dress(garment: Garment, body: Body) -> CharacterPiece:
    """Return a garment on a body."""
    return MAKERS[garment.kind](garment, body)
