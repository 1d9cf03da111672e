"""FBX files of any age, text and binary, written from a motion: no program saves old ones now.

Versions before 7000 name things and keep curves in ``Takes``, later ones number them and connect
curves to what they move. After ufbx's reader and Blender's notes on the binary form.
"""

import struct

import numpy as np
from scipy.spatial.transform import Rotation

from mimegen.motion import quaternions

SECOND = 46186158000
# Z up to Y up: X stays, Z becomes Y.
Y_UP = quaternions.from_rotation_vectors([-np.pi / 2, 0.0, 0.0])
AXES = {"UpAxis": 1, "UpAxisSign": 1, "FrontAxis": 2, "FrontAxisSign": 1, "CoordAxis": 0,
        "CoordAxisSign": 1}


class Bare(str):
    """A letter among a curve's numbers."""


def fbx_file(motion, version, binary=False, unit=1.0, stack="Take 001"):
    """Return the bytes of an FBX file of a motion, Y up; ``unit`` is in centimetres."""
    scale = 100.0 / unit
    turns = quaternions.multiply(quaternions.multiply(Y_UP, motion.rotations),
                                 quaternions.conjugate(Y_UP))
    angles = Rotation.from_quat(turns.reshape(-1, 4), scalar_first=True).as_euler(
        "xyz", degrees=True).reshape(*turns.shape[:2], 3)
    angles = np.unwrap(angles, axis=0, period=360.0)
    offsets = quaternions.rotate(Y_UP, motion.skeleton.offsets) * scale
    roots = quaternions.rotate(Y_UP, motion.root_positions) * scale
    ticks = [round(frame * SECOND / motion.fps) for frame in range(motion.frames)]
    settings = node("GlobalSettings", [], node("Version", [1000]), properties(version, [
        *((name, "int", value) for name, value in AXES.items()),
        ("UnitScaleFactor", "double", unit)]))
    head = node("FBXHeaderExtension", [], node("FBXHeaderVersion", [1003]),
                node("FBXVersion", [version]))
    form = _old if version < 7000 else _new
    body = form(motion.skeleton, version, stack, offsets, roots, angles, ticks, settings)
    return (_binary if binary else _text)([head, *body], version)


def node(name, values, *children):
    return name, list(values), list(children)


def properties(version, rows):
    """Return a block of properties: name, type and values; the newer form also has a label."""
    new = version >= 7000
    return node("Properties70" if new else "Properties60", [],
                *(node("P" if new else "Property", [name, kind, *([""] if new else []), "",
                                                    *(values if isinstance(values, list)
                                                      else [values])])
                  for name, kind, values in rows))


def _model(version, ids, name, offset):
    rows = [("Lcl Translation", "Lcl Translation", offset.tolist()),
            ("Lcl Rotation", "Lcl Rotation", [0.0, 0.0, 0.0])]
    return node("Model", [*ids, f"Model::{name}", "LimbNode"], node("Version", [232]),
                properties(version, rows))


def _old(skeleton, version, stack, offsets, roots, angles, ticks, settings):
    names = skeleton.names
    connections = [node("Connect", ["OO", f"Model::{name}", "Model::" + (
        names[parent] if parent >= 0 else "Scene")])
        for name, parent in zip(names, skeleton.parents.tolist(), strict=True)]
    moved = []
    for joint, name in enumerate(names):
        channels = [_channel("R", angles[:, joint], ticks)]
        channels[:0] = [] if joint else [_channel("T", roots, ticks)]
        moved.append(node("Model", [f"Model::{name}"], node("Version", [1.1]),
                          node("Channel", ["Transform"], *channels)))
    span = [0, ticks[-1]]
    return [node("Objects", [], *(_model(version, [], name, offsets[joint])
                                  for joint, name in enumerate(names)), settings),
            node("Connections", [], *connections),
            node("Takes", [], node("Current", [stack]), node(
                "Take", [stack], node("FileName", ["Take.tak"]), node("LocalTime", span),
                node("ReferenceTime", span), *moved))]


def _channel(name, values, ticks):
    return node("Channel", [name], *(node("Channel", [axis], *_keys(values[:, i], ticks))
                                     for i, axis in enumerate("XYZ")))


def _keys(values, ticks):
    keys = [part for tick, value in zip(ticks, values.tolist(), strict=True)
            for part in (tick, value, Bare("L"))]
    return (node("Default", [float(values[0])]), node("KeyVer", [4005]),
            node("KeyCount", [len(ticks)]), node("Key", keys))


def _new(skeleton, version, stack, offsets, roots, angles, ticks, settings):
    objects = [node("AnimationStack", [1, f"AnimStack::{stack}", ""], properties(version, [
        ("LocalStop", "KTime", ticks[-1]), ("ReferenceStop", "KTime", ticks[-1])])),
        node("AnimationLayer", [2, "AnimLayer::Base", ""])]
    connections = [node("C", ["OO", 2, 1])]
    for joint, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents.tolist(),
                                               strict=True)):
        bone, limb = 1000 + joint, 2000 + joint
        objects += [_model(version, [bone], name, offsets[joint]),
                    node("NodeAttribute", [limb, f"NodeAttribute::{name}", "LimbNode"],
                         node("TypeFlags", ["Skeleton"]))]
        connections += [node("C", ["OO", bone, 1000 + parent if parent >= 0 else 0]),
                        node("C", ["OO", limb, bone])]
        paths = {"Lcl Rotation": angles[:, joint]} | ({} if joint else {"Lcl Translation": roots})
        for at, (path, values) in enumerate(paths.items()):
            curve_node = 3000 + 10 * joint + at
            objects.append(node("AnimationCurveNode", [curve_node, f"AnimCurveNode::{path[4]}", ""],
                                properties(version, [(f"d|{axis}", "Number", float(values[0, i]))
                                                     for i, axis in enumerate("XYZ")])))
            connections += [node("C", ["OO", curve_node, 2]),
                            node("C", ["OP", curve_node, bone, path])]
            for i, axis in enumerate("XYZ"):
                curve = 100_000 + 100 * joint + 10 * at + i
                objects.append(_curve(curve, values[:, i], ticks))
                connections.append(node("C", ["OP", curve, curve_node, f"d|{axis}"]))
    return [settings, node("Objects", [], *objects), node("Connections", [], *connections)]


def _curve(number, values, ticks):
    return node("AnimationCurve", [number, "AnimCurve::", ""],
                node("Default", [float(values[0])]), node("KeyVer", [4008]),
                node("KeyTime", [np.array(ticks, "<i8")]),
                node("KeyValueFloat", [values.astype("<f4")]),
                # Linear (4), one set of flags for all keys.
                node("KeyAttrFlags", [np.array([4], "<i4")]),
                node("KeyAttrDataFloat", [np.zeros(4, "<f4")]),
                node("KeyAttrRefCount", [np.array([len(ticks)], "<i4")]))


def _text(nodes, version):
    head = f"; FBX {version // 1000}.{version // 100 % 10}.0 project file\n; ----\n\n"
    return (head + "".join(_lines(one, 0) for one in nodes)).encode()


def _lines(one, depth):
    name, values, children = one
    tab = "\t" * depth
    if values and isinstance(values[0], np.ndarray):
        listed = ",".join(repr(value) for value in values[0].tolist())
        return f"{tab}{name}: *{len(values[0])} {{\n{tab}\ta: {listed}\n{tab}}}\n"
    said = ",".join(f'"{value}"' if type(value) is str else
                    str(value) if isinstance(value, Bare) else repr(value) for value in values)
    if not children:
        return f"{tab}{name}: {said}\n"
    inside = "".join(_lines(child, depth + 1) for child in children)
    return f"{tab}{name}: {said} {{\n{inside}{tab}}}\n"


def _binary(nodes, version):
    wide = version >= 7500
    content = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", version)
    for one in nodes:
        content += _packed(one, len(content), wide)
    return content + bytes(25 if wide else 13) + bytes(160)


def _packed(one, start, wide):
    name, values, children = one
    form = "<QQQB" if wide else "<IIIB"
    listed = b"".join(map(_value, values))
    content, head = name.encode() + listed, struct.calcsize(form)
    for child in children:
        content += _packed(child, start + head + len(content), wide)
    content += bytes(head) if children else b""
    return struct.pack(form, start + head + len(content), len(values), len(listed),
                       len(name)) + content


def _value(value):
    if isinstance(value, np.ndarray):
        kind = {"<i8": b"l", "<f4": b"f", "<i4": b"i"}[value.dtype.str]
        return kind + struct.pack("<III", len(value), 0, value.nbytes) + value.tobytes()
    if isinstance(value, Bare):
        return b"C" + value.encode()
    if isinstance(value, str):
        group, _, name = value.partition("::")
        said = (f"{name}\0\1{group}" if "::" in value else value).encode()
        return b"S" + struct.pack("<I", len(said)) + said
    if isinstance(value, float):
        return b"D" + struct.pack("<d", value)
    return (b"I" + struct.pack("<i", value) if abs(value) < 1 << 31
            else b"L" + struct.pack("<q", value))
