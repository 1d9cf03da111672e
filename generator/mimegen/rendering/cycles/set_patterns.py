"""The patterns of a set's materials as shader nodes: wood, bricks, cloth, a shore and the like."""

import math
from collections.abc import Callable

import bpy

from mimegen.rendering.cycles.nodes import Nodes, Rgba, Socket, linear
from mimegen.scenery.materials import SetMaterial

# A pattern's result: the socket of its color, and the socket of its height for the bump, or None.
Pattern = tuple[Socket, Socket | None]


def _second(material: SetMaterial) -> Rgba:
    return linear(material.second) if material.second else linear(material.color, 0.6)


def _plain(nodes: Nodes, material: SetMaterial) -> Pattern:
    rgb = nodes.tree.nodes.new("ShaderNodeRGB")
    rgb.outputs[0].default_value = linear(material.color)
    return rgb.outputs[0], None


def _wood(nodes: Nodes, material: SetMaterial) -> Pattern:
    length, width = material.size
    place = nodes.stretched(nodes.scattered(), 1 / length, 1 / width, 1 / width)
    grain = nodes.noise(place, 1.0, 5.0)
    share = nodes.ramp(grain, 0.35, 0.68)
    return nodes.blend(share, linear(material.color), _second(material)), grain


def _brickwork(nodes: Nodes, material: SetMaterial, offset: float) -> Pattern:
    length, width = material.size
    bricks = nodes.add(
        "TexBrick", Vector=nodes.surface(), Color1=linear(material.color),
        Color2=_second(material), Mortar=linear(material.second or material.color, 0.35),
        Scale=1.0, Mortar_Size=material.gap * width / 2, Mortar_Smooth=0.1,
        Brick_Width=length, Row_Height=width)
    bricks.offset = offset
    grain = nodes.noise(nodes.stretched(nodes.surface(), 4 / length, 2.5 / width, 1.0), 1.0, 2.0)
    shade = nodes.blend(nodes.ramp(grain, 0.3, 0.7), (0.9, 0.9, 0.9, 1), (1.06, 1.06, 1.06, 1))
    color = nodes.blend(1.0, bricks.outputs["Color"], shade, "MULTIPLY")
    return color, nodes.math("SUBTRACT", 1.0, bricks.outputs["Fac"])


def _planks(nodes: Nodes, material: SetMaterial) -> Pattern:
    return _brickwork(nodes, material, 0.37)


def _tiles(nodes: Nodes, material: SetMaterial) -> Pattern:
    return _brickwork(nodes, material, 0.0)


def _bricks(nodes: Nodes, material: SetMaterial) -> Pattern:
    return _brickwork(nodes, material, 0.5)


def _cloth(nodes: Nodes, material: SetMaterial) -> Pattern:
    place = nodes.place()
    thread = nodes.noise(place, 260.0 / material.size[0], 1.0)
    wear = nodes.noise(place, 2.5 / material.size[0], 2.0)
    share = nodes.math("MULTIPLY", thread, wear)
    return nodes.blend(nodes.ramp(share, 0.12, 0.42), _second(material),
                       linear(material.color)), thread


def _speckle(nodes: Nodes, material: SetMaterial) -> Pattern:
    spots = nodes.noise(nodes.scattered(), 1 / material.size[0], 6.0)
    return nodes.blend(nodes.ramp(spots, 0.38, 0.64), linear(material.color),
                       _second(material)), spots


def _sand(nodes: Nodes, material: SetMaterial) -> Pattern:
    place = nodes.place()
    dunes, feet = nodes.noise(place, 0.35, 3.0), nodes.noise(place, 2.6, 3.0)
    grains = nodes.noise(place, 60.0, 2.0)
    share = nodes.math("ADD", nodes.math("MULTIPLY", dunes, 0.6),
                       nodes.math("MULTIPLY", grains, 0.4))
    height = nodes.math("ADD", nodes.math("MULTIPLY", feet, 9.0), grains)
    return nodes.blend(nodes.ramp(share, 0.36, 0.62), _second(material),
                       linear(material.color)), height


def _stripes(nodes: Nodes, material: SetMaterial) -> Pattern:
    split = nodes.add("SeparateXYZ", Vector=nodes.surface())
    phase = nodes.math("FRACT", nodes.math("DIVIDE", split.outputs["X"], material.size[0]))
    share = nodes.math("GREATER_THAN", phase, 0.5)
    return nodes.blend(share, linear(material.color), _second(material)), None


def _painting(nodes: Nodes, material: SetMaterial) -> Pattern:
    """Return a painting of three ridges, one behind the other, below a low sun; copies differ."""
    sky, land = linear(material.color), _second(material)
    along, _, level = _view(nodes, material)
    glow = nodes.math("MULTIPLY", nodes.ramp(level, 1.0, 0.3), 0.45)
    seen = nodes.blend(glow, sky, (0.85, 0.6, 0.36, 1.0))
    disc = nodes.ramp(_from_the_sun(nodes, material, level), 0.125, 0.115)
    seen = nodes.blend(disc, seen, (0.88, 0.5, 0.22, 1.0))
    for number in range(3):
        row = nodes.math("MULTIPLY_ADD", along, 1.3, 7.0 * number)
        rise = nodes.noise(nodes.add("CombineXYZ", X=row, Y=0.5, Z=0.5).outputs[0], 1.0, 4.0)
        ridge = nodes.math("MULTIPLY_ADD", rise, 0.5, 0.31 - 0.17 * number)
        tone = nodes.blend(0.4 + 0.3 * number, sky, land)
        lit = nodes.math("MULTIPLY_ADD", ridge, 0.3, 0.85)
        tone = nodes.blend(1.0, tone, nodes.add("CombineXYZ", X=lit, Y=lit, Z=lit).outputs[0],
                           "MULTIPLY")
        above = nodes.ramp(nodes.math("SUBTRACT", level, ridge), -0.006, 0.006)
        seen = nodes.blend(above, tone, seen)
    return seen, None


def _from_the_sun(nodes: Nodes, material: SetMaterial, level: Socket
                  ) -> Socket:
    """Return the distance of a painting's points from its sun, in widths of the painting."""
    width, height = material.size
    here = nodes.add("SeparateXYZ", Vector=nodes.place()).outputs["X"]
    moved = nodes.add("SeparateXYZ", Vector=nodes.stretched(
        nodes.tree.nodes.new("ShaderNodeObjectInfo").outputs["Location"], 3.7, 3.7, 3.7))
    aside = nodes.math("SINE", nodes.math("ADD", moved.outputs["X"], moved.outputs["Y"]))
    across = nodes.math("MULTIPLY_ADD", aside, -0.3, nodes.math("DIVIDE", here, width))
    up = nodes.math("MULTIPLY", nodes.math("SUBTRACT", level, 0.68), height / width)
    return nodes.math("SQRT", nodes.math("ADD", nodes.math("MULTIPLY", across, across),
                                         nodes.math("MULTIPLY", up, up)))


def _mown(nodes: Nodes, material: SetMaterial) -> Pattern:
    """Return a lawn mown in stripes of two directions, with soft ragged edges and dry patches."""
    place = nodes.place()
    blades, patches = nodes.noise(place, 70.0, 2.0), nodes.noise(place, 0.5, 4.0)
    along = nodes.add("SeparateXYZ", Vector=nodes.surface()).outputs["X"]
    waver = nodes.math("MULTIPLY_ADD", patches, 0.1, -0.05)
    phase = nodes.math("FRACT", nodes.math("ADD", nodes.math("DIVIDE", along, material.size[0]),
                                           waver))
    band = nodes.math("MULTIPLY", nodes.math("ABSOLUTE", nodes.math("SUBTRACT", phase, 0.5)), 2.0)
    ragged = nodes.math("ADD", band, nodes.math("MULTIPLY_ADD", blades, material.gap,
                                                -0.5 * material.gap))
    color = nodes.blend(nodes.ramp(ragged, 0.5 - material.gap, 0.5 + material.gap),
                        linear(material.color), _second(material))
    dry = nodes.blend(nodes.ramp(patches, 0.36, 0.64), (0.84, 0.86, 0.9, 1), (1.2, 1.1, 0.95, 1))
    color = nodes.blend(1.0, color, dry, "MULTIPLY")
    fine = nodes.blend(nodes.ramp(blades, 0.3, 0.7), (0.7, 0.7, 0.7, 1), (1.25, 1.25, 1.25, 1))
    return nodes.blend(1.0, color, fine, "MULTIPLY"), None


def _outdoors(nodes: Nodes, material: SetMaterial) -> Pattern:
    """Return a view from a window: a lawn with trees (``second``), a hill, a sky (``color``)."""
    sky, leaf = linear(material.color), material.second or material.color
    along, up, level = _view(nodes, material)
    place = nodes.add("CombineXYZ", X=along, Z=up).outputs[0]
    leaves = nodes.noise(place, 11.0, 5.0)
    drift = nodes.noise(nodes.add("CombineXYZ", X=along).outputs[0], 0.9, 1.0)
    row = nodes.math("ADD", along, nodes.math("MULTIPLY", drift, 0.8))
    lobe = nodes.math("SINE", nodes.math("MULTIPLY", row, math.pi))
    crown = nodes.math("MULTIPLY_ADD", nodes.math("MULTIPLY", lobe, lobe), 0.5, 0.5)
    wide = nodes.math("MULTIPLY_ADD", drift, 0.5, 0.16)
    ragged = nodes.math("MULTIPLY_ADD", leaves, 0.3, 0.09)
    top = nodes.math("ADD", nodes.math("MULTIPLY", wide, crown), ragged)
    lit = nodes.math("ADD", leaves, nodes.math("MULTIPLY_ADD", level, 0.35, -0.14))
    tree = nodes.blend(nodes.ramp(lit, 0.3, 0.68), linear(leaf, 0.3), linear(leaf, 1.5))
    hill = nodes.blend(0.6, linear(leaf), sky)
    ridge = nodes.math("SUBTRACT", level, nodes.math("MULTIPLY_ADD", drift, 0.3, 0.3))
    behind = nodes.blend(nodes.ramp(ridge, -0.02, 0.02), hill, sky)
    shown = nodes.blend(nodes.ramp(nodes.math("SUBTRACT", level, top), -0.015, 0.015), tree, behind)
    red, green, blue, _ = linear(leaf)
    bright = (min(1.7 * red, 1.0), min(1.9 * green, 1.0), min(1.1 * blue, 1.0))
    lawn = nodes.blend(leaves, (*(0.8 * one for one in bright), 1.0), (*bright, 1.0))
    edge = nodes.math("SUBTRACT", level, nodes.math("MULTIPLY_ADD", drift, 0.05, 0.13))
    return nodes.blend(nodes.ramp(edge, -0.01, 0.01), lawn, shown), None


def _view(nodes: Nodes, material: SetMaterial) -> tuple[Socket, ...]:
    """Return coordinates in the view from a window or in a painting.

    These are the horizontal and vertical position in widths of a tree (``size[0]``), and the
    vertical position as a fraction of the view's height (``size[1]``).
    """
    moved = nodes.add("SeparateXYZ", Vector=nodes.scattered())
    height = nodes.add("SeparateXYZ", Vector=nodes.place()).outputs["Z"]
    width, view = material.size
    along = nodes.math("ADD", moved.outputs["X"], moved.outputs["Y"])
    return (nodes.math("DIVIDE", along, width), nodes.math("DIVIDE", height, width),
            nodes.math("DIVIDE", height, view))


def _shore(nodes: Nodes, material: SetMaterial) -> Pattern:
    """Return sand (``color``), surf and sea (``second``), by the distance from the waterline.

    Distances and widths of waves are in metres; distances are positive out at sea.
    """
    sand, ripples = _sand(nodes, material.model_copy(update={"second": None}))
    place = nodes.place()
    away = _offshore(nodes)
    wet = nodes.blend(nodes.ramp(away, -1.3, -0.15), sand, linear(material.color, 0.42))
    water, ridges = _water(nodes, material, place, away)
    sea = nodes.blend(nodes.ramp(away, -0.12, 0.05), wet, water)
    white = _white(nodes, place, away, ridges)
    color = nodes.blend(nodes.math("MINIMUM", white, 1.0), sea, (0.9, 0.93, 0.95, 1.0))
    swell = _swell(nodes, place)
    share = nodes.ramp(away, -0.1, 0.4)
    land = nodes.math("MULTIPLY", ripples, nodes.math("SUBTRACT", 1.0, share))
    return color, nodes.math("ADD", land, nodes.math("MULTIPLY", swell, share))


def _water(nodes: Nodes, material: SetMaterial, place: Socket, away: Socket
           ) -> tuple[Socket, Socket]:
    """Return the sea's color, light in shallows and dark far out, and the waves that shade it."""
    blue = material.second or "#3aa6b0"
    depth = nodes.blend(nodes.ramp(away, 0.0, 3.5), linear(blue, 2.6), linear(blue))
    depth = nodes.blend(nodes.ramp(away, 4.0, 60.0), depth, linear(blue, 0.35))
    ridges = nodes.noise(nodes.stretched(place, 0.05, 0.3, 1.0), 1.0, 3.0)
    shade = nodes.blend(nodes.ramp(ridges, 0.35, 0.65), (0.7, 0.7, 0.7, 1), (1.35, 1.35, 1.35, 1))
    return nodes.blend(1.0, depth, shade, "MULTIPLY"), ridges


def _white(nodes: Nodes, place: Socket, away: Socket, ridges: Socket) -> Socket:
    """Return how white the water is: foam at the edge, a crest behind it, whitecaps far out."""
    lace = nodes.noise(place, 2.2, 3.0)
    foam = nodes.math("MULTIPLY", nodes.ramp(away, -0.2, 0.12), nodes.ramp(away, 1.5, 0.35))
    crest = nodes.math("MULTIPLY", nodes.ramp(away, 2.2, 2.5), nodes.ramp(away, 3.3, 2.6))
    white = nodes.math("MULTIPLY", nodes.math("ADD", foam, crest), nodes.ramp(lace, 0.42, 0.58))
    choppy = nodes.noise(nodes.stretched(place, 0.5, 1.6, 1.0), 1.0, 2.0)
    caps = nodes.math("MULTIPLY", nodes.ramp(ridges, 0.6, 0.66), nodes.ramp(choppy, 0.56, 0.62))
    return nodes.math("ADD", white, nodes.math("MULTIPLY", caps, nodes.ramp(away, 6.0, 12.0)))


def _swell(nodes: Nodes, place: Socket) -> Socket:
    """Return the height of waves for the bump, lower with the distance from the camera."""
    waves = nodes.noise(nodes.stretched(place, 0.35, 1.1, 1.0), 1.0, 4.0)
    # Far from the camera, waves are finer than pixels and would only add noise.
    far = nodes.tree.nodes.new("ShaderNodeCameraData").outputs["View Distance"]
    near = nodes.math("DIVIDE", 40.0, nodes.math("MULTIPLY_ADD", far, 1 / 12, 1.0))
    return nodes.math("MULTIPLY", waves, near)


def _offshore(nodes: Nodes) -> Socket:
    """Return the distance from the waterline in metres, made ragged by noise."""
    stored = nodes.tree.nodes.new("ShaderNodeAttribute")
    stored.attribute_name = "offshore"
    ragged = nodes.math("SUBTRACT", nodes.noise(nodes.place(), 0.45, 3.0), 0.5)
    return nodes.math("ADD", stored.outputs["Fac"], nodes.math("MULTIPLY", ragged, 1.6))


def make_wet(nodes: Nodes, shader: bpy.types.Node) -> None:
    """Make a shore shine where it is wet."""
    dry = nodes.ramp(_offshore(nodes), 0.0, -1.0)
    nodes.put(shader.inputs["Roughness"], nodes.math("ADD", 0.12, nodes.math("MULTIPLY", dry, 0.8)))


def cords(nodes: Nodes, material: SetMaterial) -> Socket:
    """Return 1 on a net's cords and 0 between them; ``gap`` is a cord's fraction of a mesh."""
    split = nodes.add("SeparateXYZ", Vector=nodes.surface())
    cords = [
        nodes.math("LESS_THAN", nodes.math("FRACT", nodes.math(
            "DIVIDE", split.outputs[axis], size)), material.gap)
        for axis, size in zip("XY", material.size, strict=True)
    ]
    return nodes.math("MAXIMUM", *cords)


PATTERNS: dict[str, Callable[[Nodes, SetMaterial], Pattern]] = {
    "plain": _plain, "wood": _wood, "planks": _planks, "tiles": _tiles, "bricks": _bricks,
    "cloth": _cloth, "speckle": _speckle, "sand": _sand, "stripes": _stripes,
    "painting": _painting, "outdoors": _outdoors, "shore": _shore, "net": _plain,
    "mown": _mown,
}
