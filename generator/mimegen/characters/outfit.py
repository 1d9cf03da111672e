"""What people wear: one function per kind of garment."""

from collections.abc import Callable, Mapping
from typing import Any

from mimegen.characters.body import Body
from mimegen.characters.piece import Piece
from mimegen.characters.shoes import make_shoes
from mimegen.characters.spacesuit.suit import make_spacesuit
from mimegen.characters.spec import Garment
from mimegen.characters.top import make_top
from mimegen.characters.trousers import make_trousers

# A garment's function takes its own description (a class of the union ``Garment``) and the body.
MAKERS: Mapping[str, Callable[[Any, Body], Piece]] = {
    "top": make_top,
    "trousers": make_trousers,
    "shoes": make_shoes,
    "spacesuit": make_spacesuit,
}


def dress(garment: Garment, body: Body) -> Piece:
    """Return a garment on a body."""
    return MAKERS[garment.kind](garment, body)
