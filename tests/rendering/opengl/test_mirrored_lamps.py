"""Lamps that rough surfaces mirror: the closed form beside facets drawn by lot."""

from typing import NamedTuple

import moderngl
import numpy as np
import pytest

from mimegen.base.vectors import unit
from mimegen.motion.quaternions import FloatArray
from mimegen.rendering.opengl.light import give
from mimegen.rendering.opengl.light_shaders import FRESNEL, LAMPS, VOLUME
from mimegen.rendering.opengl.shaders import WHOLE_VERTEX

FRAGMENT = """\
#version 330
uniform int none;
uniform float looked, roughness, straight;
uniform vec2 picture_size;
uniform vec3 view;
out vec4 result;
""" + FRESNEL + VOLUME + LAMPS + """
void main() {
    result = lamps_mirrored(vec3(0.0), vec3(0.0, 0.0, 1.0), view, roughness, vec3(straight),
                            vec4(1.0), vec4(1.0));
}
"""
STRAIGHT = 0.04
FACETS = 400_000


class Seen(NamedTuple):
    """A lamp, its ``middle`` (3,) and vectors to its sides, over level ground at the origin."""

    view: FloatArray
    roughness: float
    middle: FloatArray
    side: FloatArray
    other: FloatArray

    @property
    def heights(self) -> FloatArray:
        """The heights (4,) of its corners."""
        signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        return np.asarray((self.middle + signs @ np.stack([self.side, self.other]))[:, 2])


def drawn_lamps(count: int, buried: bool) -> list[Seen]:
    """Draw lamps near where the surface mirrors; ``buried`` ones reach under it."""
    rng, found = np.random.default_rng(11), list[Seen]()
    while len(found) < count:
        rise = np.radians(rng.uniform(10, 85))
        view = np.array([-np.cos(rise), 0.0, np.sin(rise)])
        to = unit(view * [-1, 1, 1] + rng.normal(size=3) * rng.uniform(0.05, 0.6))
        way = unit(rng.normal(size=3) * 0.6 - to)
        side = unit(np.cross(way, rng.normal(size=3)))
        seen = Seen(view, rng.uniform(0.15, 0.7), to * rng.uniform(1, 6),
                    side * rng.uniform(0.3, 2.5), np.cross(way, side) * rng.uniform(0.1, 2))
        if seen.middle @ way < 0 and seen.heights.max() > 0 and (seen.heights.min() < 0) == buried:
            found.append(seen)
    return found


def by_lot(seen: Seen) -> tuple[float, float]:
    """Return the light of a lamp of radiance 1, and the share of facets that show it."""
    share = (np.arange(FACETS) + 0.5) / FACETS
    turn = 2 * np.pi * np.arange(FACETS) * 0.61803398875
    wide = seen.roughness**2
    slope = wide * np.sqrt(share / (1 - share))
    facets = unit(np.stack([slope * np.cos(turn), slope * np.sin(turn), np.ones(FACETS)], axis=-1))
    towards = facets @ seen.view
    ways = 2 * towards[:, None] * facets - seen.view
    lamp = np.linalg.inv(np.stack([seen.side, seen.other, -seen.middle], axis=-1))
    across, along, far = lamp @ ways.T
    # The way times 1 / far leads to the lamp's plane.
    hits = (far < 0) & (np.maximum(np.abs(across), np.abs(along)) < -far)
    hits &= (towards > 0) & (ways[:, 2] > 0)
    shown, light = towards[hits], ways[hits, 2]
    up = seen.view[2]
    bulk = wide**2
    seen_lit = 2 * up * light / (up * np.sqrt(bulk + (1 - bulk) * light**2)
                                 + light * np.sqrt(bulk + (1 - bulk) * up**2))
    inside = np.sqrt(1 - (1 - shown**2) / 1.5**2)
    mirrored = (((shown - 1.5 * inside) / (shown + 1.5 * inside))**2
                + ((inside - 1.5 * shown) / (inside + 1.5 * shown))**2) / 2
    weights = seen_lit * mirrored * shown / (up * facets[hits, 2])
    return float(weights.sum() / FACETS), float(hits.mean())


@pytest.fixture
def mirrored(context):
    """Return what tells the light that the shader mirrors, and the share of facets."""
    program = context.program(WHOLE_VERTEX, FRAGMENT)
    target = context.framebuffer(context.texture((1, 1), 4, dtype="f4"))

    def tell(seen: Seen) -> tuple[float, float]:
        def table(vector: FloatArray) -> FloatArray:
            return np.pad(vector[None], [(0, 7), (0, 0)])

        way = unit(np.cross(seen.side, seen.other))
        way = -np.sign(seen.middle @ way) * way
        give(program, {
            "view": seen.view, "roughness": seen.roughness, "straight": STRAIGHT, "lamps": 1,
            "looked": 1.0, "lamp_at": table(seen.middle), "lamp_way": table(way),
            "lamp_side": table(seen.side), "lamp_other": table(seen.other),
            "lamp_light": table(np.ones(3))})
        target.use()
        # What drew before may have left it to blend.
        context.enable_only(moderngl.NOTHING)
        context.vertex_array(program, []).render(vertices=3)
        red, _, _, share = np.frombuffer(target.read(components=4, dtype="f4"), np.float32)
        return float(red), float(share)

    return tell


@pytest.mark.parametrize("buried", [False, True])
def test_a_mirrored_lamp_is_what_facets_by_lot_show(mirrored, buried: bool) -> None:
    """All facets of a lamp mirror what the mean one does: that holds less for near, buried ones."""
    found = np.array([[*mirrored(seen), *by_lot(seen)] for seen in drawn_lamps(150, buried)])
    light, share, true_light, true_share = found[found[:, 2] > 2e-3].T
    assert len(light) > 100
    assert np.abs(share - true_share).mean() < 0.03 * true_share.mean()
    assert np.abs(light - true_light).mean() < (0.08 if buried else 0.03) * true_light.mean()
    np.testing.assert_allclose(np.median(light / true_light), 1.0, atol=0.05)
    if not buried:
        np.testing.assert_allclose(light / true_light, 1.0, atol=0.15)
