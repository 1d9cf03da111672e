"""A spacesuit's gloves, which follow every finger, and its boots."""

import numpy as np

from mimegen.base.easing import ramp
from mimegen.characters.spacesuit.fitting import Fitting
from mimegen.characters.spacesuit.limbs import cloth_shade, with_lids
from mimegen.characters.spacesuit.shapes import (
    Shape,
    SuitPart,
    ball,
    bead,
    circle,
    frame,
    loft,
    part,
    puffs,
    ring,
    tube,
)
from mimegen.characters.surface import (
    SkinnedSurface,
    neighbour_average,
    part_of,
    smoothed,
    vertex_normals,
)
from mimegen.motion.quaternions import FloatArray

FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")


def glove(fitting: Fitting) -> list[SuitPart]:
    """Return the left glove: the hand's own surface, thicker, and its cuff."""
    suit, scale = fitting.suit, fitting.scale
    hand = hand_surface(fitting)
    average = neighbour_average(hand.faces, len(hand.vertices))
    rounded = smoothed(hand.vertices, average, 3)
    normals = smoothed(vertex_normals(rounded, hand.faces), average, 4)
    normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
    finger = finger_share(fitting, hand)
    thickness = (0.0075 - 0.0026 * finger) * (suit.bulk / 0.024) ** 0.5
    vertices = smoothed(rounded + scale * thickness[:, None] * normals, average, 1)
    rubber = np.maximum(tip_share(fitting, hand), palm_share(vertices, hand, finger))
    colors = ((1 - rubber)[:, None] * np.array(suit.color) * 0.93
              + rubber[:, None] * np.array(suit.fingertip_color))
    skin = SuitPart(Shape(vertices, hand.faces), hand.weights, colors, "suit")
    return [skin, *cuff(fitting)]


def hand_surface(fitting: Fitting) -> SkinnedSurface:
    """Return the skin of the left hand beyond the wrist."""
    body = fitting.body
    names = body.skeleton.names
    weights = np.zeros((len(body.vertices), len(names)))
    np.put_along_axis(weights, body.joints.astype(np.intp), body.weights, axis=1)
    fingers = [i for i, name in enumerate(names) if name.startswith("LeftHand")]
    held = (weights[:, fingers].sum(axis=1) > 0.5) | (
        body.vertices[:, 0] > fitting.joint("LeftHand")[0] + 0.01 * fitting.scale)
    faces = body.faces["body"]
    faces = faces[held[faces].all(axis=1)]
    share = weights[:, fingers]
    bound = np.zeros_like(weights)
    bound[:, fingers] = share / np.maximum(share.sum(axis=1, keepdims=True), 1e-9)
    bound[share.sum(axis=1) < 1e-6, body.skeleton.index["LeftHand"]] = 1.0
    return part_of(body.vertices, faces, bound)


def finger_share(fitting: Fitting, hand: SkinnedSurface) -> FloatArray:
    """Return how far each vertex (V,) follows fingers rather than the palm, 0 to 1."""
    palm = fitting.body.skeleton.index["LeftHand"]
    return np.asarray(1 - hand.weights[:, palm])


def tip_share(fitting: Fitting, hand: SkinnedSurface) -> FloatArray:
    """Return a mask (V,) that is 1 on fingertips and 0 elsewhere."""
    share = np.zeros(len(hand.vertices))
    for finger in FINGERS:
        joint = fitting.body.skeleton.index[f"LeftHand{finger}3"]
        head, tail = fitting.body.skeleton.heads[joint], fitting.body.skeleton.tails[joint]
        along = (hand.vertices - head) @ (tail - head) / np.sum((tail - head) ** 2)
        moved_by_joint = hand.weights[:, joint] > 0.3
        share = np.maximum(share, moved_by_joint * ramp(along, 0.1, 0.3))
    return share


def palm_share(vertices: FloatArray, hand: SkinnedSurface, finger: FloatArray) -> FloatArray:
    """Return how far each vertex (V,) lies on the gripping side, 0 to 0.75."""
    normals = vertex_normals(vertices, hand.faces)
    return 0.75 * ramp(-normals[:, 2], 0.25, 0.6)


def cuff(fitting: Fitting) -> list[SuitPart]:
    """Return the gauntlet between the wrist ring and the palm."""
    suit, scale = fitting.suit, fitting.scale
    wrist, knuckle = fitting.joint("LeftHand"), fitting.joint("LeftHandMiddle1")
    along = (knuckle - wrist) / np.linalg.norm(knuckle - wrist)
    places = np.linspace(-0.004, 0.046, 14) * scale
    radii = np.interp(places / scale, [-0.004, 0.008, 0.03, 0.04, 0.046],
                      [0.043, 0.0455, 0.045, 0.042, 0.033]) * scale
    radii = radii + 0.003 * scale * (puffs(places, 0.0165 * scale) - 0.6)
    flat = np.array([1.0, 0.8, 1.0])
    axes = frame(along)
    rings = tube(wrist + places[:, None] * along, np.repeat(radii[:, None], 28, axis=1), axes)
    share = ramp(places, 0.012 * scale, 0.046 * scale)[:, None, None]
    centre = (wrist + places[:, None] * along)[:, None]
    rings = centre + (rings - centre) * (1 - share * (1 - flat))
    colors = with_lids(np.broadcast_to(
        cloth_shade(puffs(places, 0.0165 * scale))[:, None, None] * np.array(suit.color),
        rings.shape))
    hand = fitting.rigid(LeftHand=1.0)
    return [
        part(loft(rings), hand, colors, "suit"),
        part(ball(wrist, 0.044 * scale, along), hand, suit.color, "suit"),
        part(ring(wrist + 0.004 * scale * along, along, 0.0445 * scale, 0.012 * scale,
                  0.009 * scale), hand, suit.stripe_color, "shell"),
    ]


def boot(fitting: Fitting, sole: float) -> list[SuitPart]:
    """Return the left boot; its sole reaches ``sole`` metres below the foot."""
    suit, scale = fitting.suit, fitting.scale
    ankle = fitting.joint("LeftFoot")
    foot, high = foot_outline(fitting), 0.1 * scale
    shaft = ankle[:2] + np.array([0.0, 0.004 * scale])
    cosines, sines = circle(foot.shape[0])
    shin = 0.087 * scale
    round_ring = shaft + shin * np.stack([cosines, sines], axis=1) * [0.92, 1.0]
    turns = np.linspace(0, 0.97, 12) * np.pi / 2
    rise = (0.012 * scale + (high - 0.012 * scale) * np.sin(turns) ** 0.8)[:, None, None]
    share = (1 - np.cos(turns) ** 0.75)[:, None, None]
    flat = (1 - share) * foot + share * round_ring
    upper = np.concatenate([flat, np.broadcast_to(rise, (*flat.shape[:2], 1))], axis=2)
    welt = np.concatenate([foot, np.full((len(foot), 1), -0.002)], axis=1)[None]
    tall = np.linspace(0.012, 0.13, 17) * scale
    swell = 1 + 0.05 * (puffs(tall, 0.03 * scale) - 0.5) + 0.1 * tall[:, None][:, 0] / 0.13
    leg = np.empty((len(tall), len(foot), 3))
    leg[..., :2] = shaft + (round_ring - shaft) * swell[:, None, None]
    leg[..., 2] = (high + tall)[:, None]
    rings = np.concatenate([welt, upper, leg])
    crease = np.concatenate([np.ones(13), cloth_shade(puffs(tall, 0.03 * scale))])
    colors = with_lids(crease[:, None, None] * np.broadcast_to(np.array(suit.boot_color),
                                                               rings.shape))
    shape = loft(rings)
    parts = [part(shape, boot_weights(fitting, shape.vertices), colors, "suit")]
    parts.append(tread(fitting, foot, sole))
    top = np.array([*shaft, high + 0.126 * scale])
    parts.append(part(
        ring(top, (0, 0, 1), shin * 1.09, 0.018 * scale, 0.024 * scale, 40),
        fitting.between("LeftFoot", "LeftLeg", np.ones(1))[0], suit.metal_color, "metal"))
    parts.append(strap(fitting, rings[9]))
    return parts


def foot_outline(fitting: Fitting) -> FloatArray:
    """Return the outline (A, 2) of the sole around the foot, counterclockwise seen from above."""
    scale = fitting.scale
    foot = fitting.points_of("LeftFoot", "LeftToeBase")
    low, high = foot.min(axis=0)[:2], foot.max(axis=0)[:2]
    middle = (low + high) / 2
    half = (high - low) / 2 + np.array([0.019, 0.026]) * scale
    cosines, sines = circle(52)
    x = np.sign(cosines) * np.abs(cosines) ** 0.82
    y = np.sign(sines) * np.abs(sines) ** 0.82
    width = 1 + 0.04 * np.cos(2 * y) - 0.13 * ramp(y, -0.3, 0.9)
    return np.asarray(middle + half * np.stack([x * width, y], axis=1))


def tread(fitting: Fitting, foot: FloatArray, sole: float) -> SuitPart:
    """Return the thick ribbed sole."""
    middle = foot.mean(axis=0)
    levels = np.array([0.014, 0.012, 0.002, 0.0, -0.002, -0.45, -0.5, -0.55, -0.95, -1.0])
    heights = np.where(levels < 0, levels * sole, levels * fitting.scale)
    grow = np.array([0.0, 0.004, 0.0045, 0.003, 0.0045, 0.005, 0.002, 0.005, 0.004, 0.0])
    ribs = np.where(np.arange(len(foot)) % 4 < 2, 0.0016, -0.0016)
    ribbed = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1.0])
    outward = foot - middle
    outward = outward / np.linalg.norm(outward, axis=1, keepdims=True)
    reach = fitting.scale * (grow[:, None] + ribbed[:, None] * ribs)
    flat = foot + reach[:, :, None] * outward
    rings = np.concatenate(
        [flat, np.broadcast_to(heights[:, None, None], (*flat.shape[:2], 1))], axis=2)[::-1]
    shape = loft(rings)
    return part(shape, boot_weights(fitting, shape.vertices), fitting.suit.rubber_color, "rubber")


def strap(fitting: Fitting, path: FloatArray) -> SuitPart:
    """Return a band over the instep."""
    outward = path - path.mean(axis=0) + np.array([0.0, 0.0, 0.03])
    outward = outward / np.linalg.norm(outward, axis=1, keepdims=True)
    shape = bead(path, outward, 0.007 * fitting.scale, 0.018 * fitting.scale)
    return part(shape, boot_weights(fitting, shape.vertices), fitting.suit.rubber_color, "rubber")


def boot_weights(fitting: Fitting, points: FloatArray) -> FloatArray:
    """Return weights (N, J) on toes, foot and shin."""
    scale = fitting.scale
    ankle, ball_of_foot = fitting.joint("LeftFoot"), fitting.joint("LeftToeBase")
    shin = ramp(points[:, 2], ankle[2] - 0.005 * scale, ankle[2] + 0.085 * scale)[:, None]
    toe = ramp(points[:, 1], ball_of_foot[1] + 0.02 * scale, ball_of_foot[1] - 0.025 * scale)
    low = fitting.between("LeftFoot", "LeftToeBase", toe)
    return np.asarray((1 - shin) * low + shin * fitting.rigid(LeftLeg=1.0))
