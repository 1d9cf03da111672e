"""Write formats of motion research: SMPL-X as in AMASS, HumanML3D, Kimodo's SOMA, TRC."""

import io
from collections.abc import Mapping

import numpy as np

from mimegen.base.vectors import lengths
from mimegen.markers.sets import body_landmarks, marker_sets
from mimegen.motion import Motion, Skeleton, quaternions, standard_skeleton
from mimegen.motion.axes import skeleton_with_z_up, with_y_up
from mimegen.motion.contacts import resting, resting_level
from mimegen.motion.editing import resampled
from mimegen.motion.quaternions import FloatArray
from mimegen.readers.position_layouts import smpl_layout
from mimegen.readers.roles import find_roles
from mimegen.readers.smpl.bodies import BODY, SmplBody, roles_of, skeleton_of, table_body
from mimegen.readers.soma import small_tree, soma_roles
from mimegen.readers.text_to_motion.encoding import encoded
from mimegen.writers.onskeleton import leg, on_skeleton

# Largest believable shape coefficient (standard deviations).
MAX_BETA = 3.0
STIFFNESS_M = 0.01
HUMANML_FPS = 20.0
# Labels of joint centres and their roles; and the distance (m) of ears from the head's middle.
CENTRES = {"Hip": "thigh", "Knee": "shin", "Ankle": "foot", "BigToe": "toe",
           "Shoulder": "upper_arm", "Elbow": "forearm", "Wrist": "hand"}
TRUNK = {"Pelvis": "hips", "Spine_Low": "spine1", "Spine_Mid": "spine2", "Chest": "chest",
         "Neck_Base": "neck1", "Right_Clavicle": "right_clavicle",
         "Left_Clavicle": "left_clavicle"}
EAR_M = 0.075
MILLIMETRES = 1000.0
# The marker set whose labels TRC files get.
TRC_SET = "OpenSim gait2392"
FACE = 9
# Largest difference (metres) of bones by which a skeleton still counts as SMPL-X's own.
OWN_M = 5e-4


def to_smplx(motion: Motion) -> bytes:
    """Return an archive of SMPL-X as AMASS lays it out (``_stageii``): Z up, metres, radians.

    It holds ``root_orient`` (F, 3), ``pose_body`` (F, 63), ``pose_hand`` (F, 90), ``poses`` (F,
    165) with all of them, ``trans`` (F, 3), ``betas`` (16,) that fit the bones' lengths, and
    ``mocap_frame_rate``. Hands are given without a mean pose.
    """
    body = table_body("SMPL-X", "neutral")
    roles = find_roles(motion.skeleton).joints
    betas = _betas(body, motion.skeleton, roles)
    rest = body.shaped(betas)
    put = on_skeleton(motion, roles, skeleton_with_z_up(skeleton_of(body, rest, len(body.names))),
                      roles_of(body.names))
    # SMPL's joint frames have Y up, so the rest pose is turned back; the world stays Z up.
    stand = quaternions.from_rotation_vectors([np.pi / 2, 0.0, 0.0])
    local = put.global_pose.rotations.copy()
    local = quaternions.multiply(local, stand)
    parents = body.parents[1:]
    turns = local.copy()
    turns[:, 1:] = quaternions.multiply(quaternions.conjugate(local[:, parents]), local[:, 1:])
    vectors = quaternions.to_rotation_vectors(turns)
    frames = motion.frames
    whole = np.concatenate([vectors[:, :BODY].reshape(frames, -1), np.zeros((frames, FACE)),
                            vectors[:, BODY:].reshape(frames, -1)], axis=1)
    return _packed(
        gender=np.array("neutral"), surface_model_type=np.array("smplx"),
        mocap_frame_rate=np.array(motion.fps), trans=put.root_positions - rest[0],
        betas=np.concatenate([betas, np.zeros(6)]), poses=whole, root_orient=whole[:, :3],
        pose_body=whole[:, 3:66], pose_jaw=whole[:, 66:69], pose_eye=whole[:, 69:75],
        pose_hand=whole[:, 75:])


def _betas(body: SmplBody, skeleton: Skeleton, roles: Mapping[str, str]) -> FloatArray:
    """Return shape coefficients (10,) that fit a skeleton's bone lengths by least squares.

    Small coefficients are preferred, by adding rows with the weight ``STIFFNESS_M`` (m).
    """
    assert body.shapes is not None
    exact = _own_betas(body, skeleton)
    if exact is not None:
        return exact
    ours = roles_of(body.names)
    index = {name: number for number, name in enumerate(body.names)}
    rows, wanted = [], []
    for role, joint in ours.items():
        number = index[joint]
        parent = int(body.parents[number])
        above = next((r for r, name in ours.items() if parent >= 0 and name == body.names[parent]),
                     None)
        if above is None or role not in roles or above not in roles or role[-1].isdigit():
            continue
        bone = body.rest[number] - body.rest[parent]
        size = float(lengths(bone))
        own = float(lengths(skeleton.heads[skeleton.index[roles[role]]]
                            - skeleton.heads[skeleton.index[roles[above]]]))
        rows.append((bone / size) @ (body.shapes[number] - body.shapes[parent]))
        wanted.append(own - size)
    table = np.concatenate([np.array(rows), STIFFNESS_M * np.eye(body.shapes.shape[2])])
    found = np.linalg.lstsq(table, np.concatenate([wanted, np.zeros(body.shapes.shape[2])]),
                            rcond=None)[0]
    return np.asarray(np.round(np.clip(found, -MAX_BETA, MAX_BETA), 4))


def _own_betas(body: SmplBody, skeleton: Skeleton) -> FloatArray | None:
    """Return the shape coefficients (10,) of a skeleton that is SMPL-X's, or None for others."""
    count = len(skeleton.names)
    if skeleton.names != body.names[:count] or body.shapes is None or count < BODY:
        return None
    known = skeleton_with_z_up(skeleton_of(body, body.rest, count)).offsets[1:]
    shapes = body.shapes[:count] - body.shapes[np.maximum(body.parents[:count], 0)]
    turned = np.stack([shapes[1:, 0], -shapes[1:, 2], shapes[1:, 1]], axis=1)
    table = turned.reshape(-1, turned.shape[-1])
    found = np.linalg.lstsq(table, (skeleton.offsets[1:] - known).ravel(), rcond=None)[0]
    left = table @ found - (skeleton.offsets[1:] - known).ravel()
    return np.asarray(np.round(found, 6)) if np.abs(left).max() < OWN_M else None


def humanml_joints(motion: Motion) -> FloatArray:
    """Return HumanML3D's 22 joints (F, 22, 3): Y up, 20 fps, facing +Z, starting over the origin.
    """
    layout = smpl_layout()
    roles = find_roles(motion.skeleton).joints
    at_rate = motion if motion.fps == HUMANML_FPS else resampled(motion, HUMANML_FPS)
    own = at_rate.skeleton.names[:BODY] == layout.skeleton.names
    put = at_rate if own else on_skeleton(at_rate, roles, layout.skeleton, layout.roles)
    places = with_y_up(put.global_pose.positions[:, :BODY])
    return np.asarray(places - places[:1, :1] * [1.0, 0.0, 1.0])


def to_humanml_joints(motion: Motion) -> bytes:
    """Return HumanML3D's ``new_joints``: an array (F, 22, 3)."""
    return _array(humanml_joints(motion).astype(np.float32))


def to_humanml_vectors(motion: Motion) -> bytes:
    """Return HumanML3D's ``new_joint_vecs``: an array (F - 1, 263)."""
    return _array(encoded(humanml_joints(motion)).astype(np.float32))


def to_soma(motion: Motion) -> bytes:
    """Return an archive of Kimodo's SOMA skeleton of 30 joints: Y up, facing +Z, metres.

    It holds ``posed_joints`` (F, 30, 3), ``global_rot_mats`` (F, 30, 3, 3), ``root_positions`` (F,
    3), ``foot_contacts`` (F, 4) of left heel and toe, right heel and toe, and ``fps``.
    """
    tree, rest = small_tree()
    names = tuple(tree)
    parents = np.array([-1 if above is None else names.index(above) for above in tree.values()])
    tails = rest + (rest - rest[np.maximum(parents, 0)]) / 2
    skeleton = skeleton_with_z_up(Skeleton(names, parents, rest, tails))
    roles = find_roles(motion.skeleton).joints
    put = on_skeleton(motion, roles, skeleton, soma_roles(names))
    stand = quaternions.from_rotation_vectors([-np.pi / 2, 0.0, 0.0])
    turns = quaternions.multiply(quaternions.multiply(stand, put.global_pose.rotations),
                                 quaternions.conjugate(stand))
    feet = [names.index(f"{side}{part}") for side in ("Left", "Right")
            for part in ("Foot", "ToeBase")]
    ends = put.global_pose.positions[:, feet]
    contacts = np.concatenate([resting(ends[:, [n]], put.fps, resting_level(ends[:, [n]], put.fps))
                               for n in range(4)], axis=1)
    places = with_y_up(put.global_pose.positions)
    return _packed(posed_joints=places.astype(np.float32),
                   global_rot_mats=quaternions.to_matrices(turns).astype(np.float32),
                   root_positions=places[:, 0].astype(np.float32), foot_contacts=contacts,
                   fps=np.array(motion.fps))


def to_trc(motion: Motion, name: str) -> bytes:
    """Return a TRC table of joint centres and virtual markers, Y up, millimetres.

    Joint centres are the motion's own, with the labels of pose estimators (``RHip``), as
    Pose2Sim's. Markers have the labels of OpenSim's gait2392, at the positions that
    ``rigs/marker_sets`` gives on the standard body.
    """
    roles = find_roles(motion.skeleton).joints
    standard = standard_skeleton()
    own = find_roles(standard).joints
    size = leg(motion.skeleton, roles) / leg(standard, own)
    put = on_skeleton(motion, roles, standard.scaled(size), own)
    centres = _centres(motion, roles)
    labels, places = list(centres), list(centres.values())
    chosen = next(one for one in marker_sets() if one.name == TRC_SET)
    for label, landmark in _labels(chosen.landmarks).items():
        spot = body_landmarks()[landmark]
        joint = standard.index[spot.joint]
        labels.append(label)
        places.append(put.global_pose.positions[:, joint] + quaternions.rotate(
            put.global_pose.rotations[:, joint], size * (spot.place - standard.heads[joint])))
    table = with_y_up(np.stack(places, axis=1)) * MILLIMETRES
    return _trc(labels, table, motion.fps, name).encode()


def _centres(motion: Motion, roles: Mapping[str, str]) -> dict[str, FloatArray]:
    """Return joint centres (F, 3) by label; the head joint is the middle between the ears."""
    index, pose = motion.skeleton.index, motion.global_pose
    head = index[roles["head"]]
    found = {label: pose.positions[:, index[roles[role]]] for label, role in TRUNK.items()
             if role in roles}
    for side, mark, sign in (("right", "R", -1.0), ("left", "L", 1.0)):
        found |= {mark + label: pose.positions[:, index[roles[f"{side}_{role}"]]]
                  for label, role in CENTRES.items() if f"{side}_{role}" in roles}
        found[f"{mark}Ear"] = pose.positions[:, head] + quaternions.rotate(
            pose.rotations[:, head], [sign * EAR_M, 0.0, 0.0])
    return found


def _labels(landmarks: Mapping[str, str]) -> dict[str, str]:
    """Return label -> landmark, with labels spelled as OpenSim does: ``R.Heel``."""
    labels = {}
    for plain, landmark in landmarks.items():
        if landmark in body_landmarks():
            side, rest = (plain[0].upper() + ".", plain[1:]) if landmark.startswith(
                ("left_", "right_")) else ("", plain)
            labels[side + rest.capitalize()] = landmark
    return labels


def _trc(labels: list[str], table: FloatArray, fps: float, name: str) -> str:
    frames = len(table)
    head = [f"PathFileType\t4\t(X/Y/Z)\t{name}",
            "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame"
            "\tOrigNumFrames",
            f"{fps:.6f}\t{fps:.6f}\t{frames}\t{len(labels)}\tmm\t{fps:.6f}\t1\t{frames}",
            "Frame#\tTime\t" + "\t\t\t".join(labels) + "\t\t",
            "\t\t" + "\t".join(f"X{n}\tY{n}\tZ{n}" for n in range(1, len(labels) + 1)), ""]
    rows = ("\t".join([str(number + 1), f"{number / fps:.6f}",
                       *(f"{value:.4f}" for value in row)])
            for number, row in enumerate(table.reshape(frames, -1).tolist()))
    return "\n".join([*head, *rows]) + "\n"


def _array(values: FloatArray) -> bytes:
    packed = io.BytesIO()
    np.save(packed, values, allow_pickle=False)
    return packed.getvalue()


def _packed(**arrays: FloatArray) -> bytes:
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    return packed.getvalue()
