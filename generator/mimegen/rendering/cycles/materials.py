"""Blender materials for every kind of ``Material``. Runs in worker processes only."""

from collections.abc import Callable, Mapping
from typing import Any

import bpy

from mimegen.characters.character import Material
from mimegen.shots.config import Photo

Parameters = Mapping[str, Any]

# Height of the creases in cloth under a ``photo`` config, in metres.
CREASE_M = 0.0016


def make_material(material: Material, photo: Photo | None = None) -> bpy.types.Material:
    """Return the Blender material for a character's material, with photographic detail if given.

    Raises KeyError for an unknown kind or a missing parameter.
    """
    made = bpy.data.materials.new(material.name)
    made.use_nodes = True
    shader = Shader(made.node_tree)
    KINDS[material.kind](shader, material)
    if photo is not None and material.kind in PHOTO:
        PHOTO[material.kind](shader, photo)
    return made


class Shader:
    """A Principled BSDF and the few nodes that feed it."""

    def __init__(self, tree: bpy.types.NodeTree) -> None:
        self.tree = tree
        self.surface = tree.nodes["Principled BSDF"]

    def set(self, **inputs: Any) -> None:
        """Give inputs of the surface, named in lower case, a constant or another node's output."""
        for name, value in inputs.items():
            self.feed(self.surface.inputs[name.replace("_", " ").title().replace("Ior", "IOR")],
                      value)

    def feed(self, socket: bpy.types.NodeSocket, value: Any) -> None:
        """Give one input a constant or another node's output."""
        if isinstance(value, bpy.types.NodeSocket):
            self.tree.links.new(value, socket)
        elif isinstance(value, tuple) and len(value) == 3 and socket.type == "RGBA":
            socket.default_value = (*value, 1.0)
        else:
            socket.default_value = value

    def attribute(self, name: str, output: str = "Fac") -> bpy.types.NodeSocket:
        """Return a mesh attribute: ``Fac`` for numbers, ``Vector`` for vectors."""
        node = self.tree.nodes.new("ShaderNodeAttribute")
        node.attribute_name = name
        return node.outputs[output]

    def math(self, operation: str, first: Any, second: Any) -> bpy.types.NodeSocket:
        """Return a sum, product or other operation on two numbers."""
        node = self.tree.nodes.new("ShaderNodeMath")
        node.operation = operation
        self.feed(node.inputs[0], first)
        self.feed(node.inputs[1], second)
        return node.outputs[0]

    def mix(self, share: Any, first: Any, second: Any) -> bpy.types.NodeSocket:
        """Return a color between two, ``share`` 0 to 1."""
        node = self.tree.nodes.new("ShaderNodeMix")
        node.data_type = "RGBA"
        for name, value in zip(("Factor", "A", "B"), (share, first, second), strict=True):
            socket = next(s for s in node.inputs
                          if s.name == name and s.enabled and s.type in ("VALUE", "RGBA"))
            self.feed(socket, value)
        return next(s for s in node.outputs if s.type == "RGBA")

    def span(self, value: Any, start: float, end: float) -> bpy.types.NodeSocket:
        """Return 0 where ``value`` is ``start`` and 1 where it is ``end``, linear between."""
        node = self.tree.nodes.new("ShaderNodeMapRange")
        self.feed(node.inputs["Value"], value)
        node.inputs["From Min"].default_value = start
        node.inputs["From Max"].default_value = end
        return node.outputs["Result"]

    def scaled(self, vector: Any, factors: tuple[float, float, float]) -> bpy.types.NodeSocket:
        """Return a vector times factors, component by component."""
        node = self.tree.nodes.new("ShaderNodeVectorMath")
        node.operation = "MULTIPLY"
        self.feed(node.inputs[0], vector)
        node.inputs[1].default_value = factors
        return node.outputs["Vector"]

    def noise(self, place: Any, scale: float, detail: float = 1.0,
              distortion: float = 0.0) -> bpy.types.NodeSocket:
        """Return smooth noise, 0 to 1, with ``scale`` waves per unit of ``place``."""
        node = self.tree.nodes.new("ShaderNodeTexNoise")
        self.feed(node.inputs["Vector"], place)
        node.inputs["Scale"].default_value = scale
        node.inputs["Detail"].default_value = detail
        node.inputs["Distortion"].default_value = distortion
        return node.outputs[0]

    def picture(self, material: Material) -> bpy.types.ShaderNode:
        """Return the node that shows a material's picture, which repeats."""
        if material.image is None:
            raise KeyError(f"material {material.name} has no picture")
        image = bpy.data.images.new(material.name, 1, 1)
        image.pack(data=material.image, data_len=len(material.image))
        image.source = "FILE"
        node = self.tree.nodes.new("ShaderNodeTexImage")
        node.image = image
        return node

    def tint(self, color: Any) -> None:
        """Multiply the surface's color by another."""
        base = self.surface.inputs["Base Color"]
        node = self.tree.nodes.new("ShaderNodeVectorMath")
        node.operation = "MULTIPLY"
        own = base.links[0].from_socket if base.links else tuple(base.default_value[:3])
        self.feed(node.inputs[0], own)
        self.feed(node.inputs[1], color)
        self.set(base_color=node.outputs["Vector"])

    def bump(self, height: Any, distance: float) -> None:
        """Shade as if the surface were ``distance`` metres higher where ``height`` is 1.

        The bump is added to the surface's bumps so far.
        """
        node = self.tree.nodes.new("ShaderNodeBump")
        there = self.surface.inputs["Normal"].links
        if there:
            self.feed(node.inputs["Normal"], there[0].from_socket)
        node.inputs["Distance"].default_value = distance
        self.feed(node.inputs["Height"], height)
        self.set(normal=node.outputs["Normal"])


def shaded(color: tuple[float, ...], factor: float) -> tuple[float, ...]:
    """Return a color times a factor, at most 1."""
    return tuple(min(1.0, channel * factor) for channel in color)


def plain(shader: Shader, material: Material) -> None:
    """Shade one color. Parameters: color, roughness, metallic."""
    p: Parameters = material.parameters
    shader.set(base_color=p["color"], roughness=p["roughness"], metallic=p["metallic"])


def light(shader: Shader, material: Material) -> None:
    """Glow. Parameters: color, strength."""
    p: Parameters = material.parameters
    shader.set(base_color=(0.0, 0.0, 0.0), roughness=1.0, specular_ior_level=0.0,
               emission_color=p["color"], emission_strength=p["strength"])


def picture(shader: Shader, material: Material) -> None:
    """Shade by the material's picture, mapped by uvs. Parameters: roughness, metallic."""
    p: Parameters = material.parameters
    node = shader.picture(material)
    shader.set(base_color=node.outputs["Color"], alpha=node.outputs["Alpha"],
               roughness=p["roughness"], metallic=p["metallic"])


def skin(shader: Shader, material: Material) -> None:
    """Shade skin. Parameters: color, redness, hair_color.

    Attributes: ``rest`` (metres), and the masks (0 to 1) ``red``, ``lips``, ``hairy``, ``nails``.
    """
    p: Parameters = material.parameters
    base, redness = p["color"], p["redness"]
    rest = shader.attribute("rest", "Vector")
    blotches = shader.noise(rest, 30.0, 3.0)
    color = shader.mix(blotches, shaded(base, 0.90), shaded(base, 1.10))
    blood = (base[0] * 0.92, base[1] * 0.52, base[2] * 0.50)
    color = shader.mix(shader.math("MULTIPLY", shader.attribute("red"), redness), color, blood)
    lips = (base[0] * 0.72, base[1] * 0.36, base[2] * 0.38)
    color = shader.mix(shader.math("MULTIPLY", shader.attribute("lips"), 0.35 + redness * 0.6),
                       color, lips)
    stubble = tuple(0.35 * b + 0.5 * h for b, h in zip(base, p["hair_color"], strict=True))
    color = shader.mix(shader.attribute("hairy"), color, stubble)
    nails = (min(1.0, base[0] * 1.1), base[1] * 0.95, base[2] * 0.95)
    color = shader.mix(shader.math("MULTIPLY", shader.attribute("nails"), 0.7), color, nails)
    shader.set(base_color=color, roughness=0.52, specular_ior_level=0.35)


def cloth(shader: Shader, material: Material) -> None:
    """Shade cloth with folds. Parameters: color, roughness, fold_height (metres), fold_stretch.

    Attributes: ``rest`` (metres) and ``edge``, the distance to the hem in metres, which places the
    seam. If the material has a picture, it replaces the color.
    """
    p: Parameters = material.parameters
    rest = shader.attribute("rest", "Vector")
    folds = shader.noise(shader.scaled(rest, p["fold_stretch"]), 9.0, 1.5, 1.2)
    fading = shader.noise(rest, 4.0, 2.0)
    color = shader.mix(fading, shaded(p["color"], 0.84), shaded(p["color"], 1.14))
    if material.image is not None:
        own = shader.picture(material).outputs["Color"]
        color = shader.mix(fading, shader.scaled(own, (0.84,) * 3), shader.scaled(own, (1.14,) * 3))
    edge = shader.attribute("edge")
    seam = shader.math("MULTIPLY", shader.span(edge, 0.021, 0.019), shader.span(edge, 0.015, 0.017))
    color = shader.mix(shader.math("MULTIPLY", seam, 0.35), color, shaded(p["color"], 0.4))
    shader.set(base_color=color, roughness=p["roughness"], specular_ior_level=0.2,
               sheen_weight=0.15, sheen_roughness=0.4)
    shader.bump(shader.math("SUBTRACT", folds, shader.math("MULTIPLY", seam, 0.3)),
                p["fold_height"])


def hair(shader: Shader, material: Material) -> None:
    """Shade hair. Parameter: color. Attribute: ``strand``, nearly constant along each strand."""
    p: Parameters = material.parameters
    strand = shader.attribute("strand", "Vector")
    coarse, fine = shader.noise(strand, 5.0, 2.0), shader.noise(strand, 30.0, 2.0)
    streaks = shader.math("ADD", shader.math("MULTIPLY", coarse, 0.5),
                          shader.math("MULTIPLY", fine, 0.5))
    color = shader.mix(shader.span(streaks, 0.35, 0.65), shaded(p["color"], 0.55),
                       shaded(p["color"], 1.5))
    shader.set(base_color=color, roughness=0.5, specular_ior_level=0.3)
    shader.bump(streaks, 0.006)


def eye(shader: Shader, material: Material) -> None:
    """Shade an eyeball by ``angle``, degrees from the gaze. Parameters: color, iris_deg."""
    p: Parameters = material.parameters
    angle, iris = shader.attribute("angle"), p["iris_deg"]
    fibers = shader.mix(shader.span(angle, 12.0, iris * 0.8), shaded(p["color"], 1.7),
                        shaded(p["color"], 0.8))
    rim = shader.mix(shader.span(angle, iris - 4.0, iris - 1.0), fibers, shaded(p["color"], 0.2))
    white = shader.mix(shader.span(angle, iris - 0.5, iris + 1.0), rim, (0.80, 0.77, 0.74))
    color = shader.mix(shader.span(angle, 12.0, 11.0), white, (0.004, 0.004, 0.004))
    shader.set(base_color=color, roughness=0.12, specular_ior_level=0.6,
               emission_color=color, emission_strength=0.2)


def painted(shader: Shader, material: Material) -> None:
    """Shade in the mesh's own colors, with dust and creases.

    Parameters: roughness, metallic, wear (0 to 1), fold_height (metres). Attributes: ``rest``
    (metres) and ``paint`` (linear RGB).
    """
    p: Parameters = material.parameters
    rest, own = shader.attribute("rest", "Vector"), shader.attribute("paint", "Vector")
    dusty = shader.scaled(own, (0.72, 0.70, 0.66))
    dust = shader.span(shader.noise(rest, 7.0, 4.0, 0.6), 0.5, 0.75)
    shader.set(base_color=shader.mix(shader.math("MULTIPLY", dust, p["wear"]), own, dusty),
               roughness=p["roughness"], metallic=p["metallic"])
    if p["fold_height"] > 0:
        shader.bump(shader.noise(rest, 26.0, 2.0, 1.5), p["fold_height"])


KINDS: Mapping[str, Callable[[Shader, Material], None]] = {
    "plain": plain, "image": picture, "skin": skin, "cloth": cloth, "hair": hair, "eye": eye,
    "painted": painted, "light": light,
}


def photo_skin(shader: Shader, photo: Photo) -> None:
    """Give skin subsurface scattering (red light farthest), spots, pores and an uneven oil film."""
    rest = shader.attribute("rest", "Vector")
    _spotted(shader, rest)
    shader.set(subsurface_weight=0.6, subsurface_radius=(1.0, 0.36, 0.2),
               subsurface_scale=photo.skin_depth_m)
    oil = shader.span(shader.noise(rest, 60.0, 3.0), 0.3, 0.75)
    shader.set(roughness=shader.math("ADD", shader.math("MULTIPLY", oil, -0.14), 0.55),
               coat_weight=shader.math("MULTIPLY", oil, 0.16), coat_roughness=0.32)
    # Creases of a few millimetres, and pores in them.
    height = shader.math("ADD", shader.noise(rest, 420.0, 3.0, 0.6),
                         shader.math("MULTIPLY", shader.noise(rest, 1400.0, 1.0), 0.5))
    shader.bump(height, photo.pores_m)


def _spotted(shader: Shader, rest: bpy.types.NodeSocket) -> None:
    """Tint skin with blotches of about 4 mm and a few brown spots of about 2 mm."""
    blotch = shader.span(shader.noise(rest, 240.0, 2.0), 0.3, 0.7)
    spot = shader.span(shader.noise(rest, 330.0, 0.0), 0.76, 0.82)
    tint = shader.mix(blotch, (1.05, 1.03, 1.03), (0.94, 0.88, 0.86))
    shader.tint(shader.mix(shader.math("MULTIPLY", spot, 0.5), tint, (0.62, 0.46, 0.38)))


def photo_eye(shader: Shader, photo: Photo) -> None:
    """Give the eye a wet cornea as a glossy coat, and no emission.

    The edge of the iris is soft; the white of the eye gets redder and darker away from the iris.
    """
    angle = shader.attribute("angle")
    iris = shader.span(angle, 25.0, 30.0)
    white = shader.mix(shader.span(angle, 30.0, 62.0), (0.86, 0.84, 0.82), (0.66, 0.52, 0.47))
    shader.tint(shader.mix(shader.span(angle, 30.0, 33.0), shader.mix(
        iris, (1.0, 1.0, 1.0), (0.8, 0.8, 0.8)), white))
    shader.set(emission_strength=0.0, roughness=0.35, coat_weight=1.0, coat_roughness=0.03,
               coat_ior=1.376)


def photo_cloth(shader: Shader, photo: Photo) -> None:
    """Give cloth a sheen at grazing angles, threads, and creases a few centimetres wide."""
    rest = shader.attribute("rest", "Vector")
    down = shader.noise(shader.scaled(rest, (1.0, 1.0, 0.16)), 1100.0, 0.0)
    across = shader.noise(shader.scaled(rest, (0.16, 0.16, 1.0)), 1100.0, 0.0)
    threads = shader.span(shader.math("ADD", down, across), 0.7, 1.3)
    shader.tint(shader.mix(threads, (0.90, 0.90, 0.90), (1.09, 1.09, 1.09)))
    creases = shader.noise(shader.scaled(rest, (1.0, 1.0, 0.45)), 34.0, 1.0, 0.8)
    shader.bump(creases, CREASE_M)
    shader.set(sheen_weight=0.2, sheen_roughness=0.5)


def photo_hair(shader: Shader, photo: Photo) -> None:
    """Give hair a band of anisotropic gloss that follows its strands."""
    shader.set(roughness=0.38, specular_ior_level=0.5, anisotropic=0.6)


PHOTO: Mapping[str, Callable[[Shader, Photo], None]] = {
    "skin": photo_skin, "eye": photo_eye, "cloth": photo_cloth, "hair": photo_hair}
