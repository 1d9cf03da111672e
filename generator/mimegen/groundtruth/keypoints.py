"""Keypoints of a frame: positions of joints and landmarks, and their visibility to a camera."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mimegen.characters.expression import face_of, gaze_of
from mimegen.groundtruth.landmarks import Landmarks, landmarks_of
from mimegen.groundtruth.rays import first_hits
from mimegen.groundtruth.surface import PosedScene
from mimegen.motion.quaternions import FloatArray
from mimegen.shots.camera import Camera
from mimegen.shots.skinning import skinned

UNDEFINED = 0
HIDDEN_BY_SELF = 1
VISIBLE = 2
HIDDEN_BY_OTHER = 3
# The parts, along each axis of the picture, whose outermost points make a performer's outline.
OUTLINE_PARTS = 48


@dataclass(frozen=True, eq=False)
class KeypointMaker:
    """Finds the keypoints of a scene frame by frame."""

    scene: PosedScene
    landmarks: tuple[Landmarks, ...]

    @staticmethod
    def of(scene: PosedScene) -> "KeypointMaker":
        """Return the keypoint maker of a scene."""
        return KeypointMaker(scene, tuple(landmarks_of(each) for each in scene.characters))

    def frame(self, frame: int, camera: Camera) -> dict[str, NDArray[np.generic]]:
        """Return a frame's arrays for N performers with K landmarks.

        ``world`` (N, K, 3) are positions in metres. ``visibility`` (N, K) is 0 if not defined, 1 if
        hidden by the own body, 2 if visible, 3 if hidden by another person. ``outlines`` (N, M, 2)
        are pixels on the outline of the whole surface, also outside of the picture.
        ``joints_<n>`` (J, 3) are joint positions of skeleton n in metres. ``names`` (K,) and
        ``joint_names_<n>`` (J,) are names. ``face_units`` (N, 2, U) are the face units of the left
        and right side, those of rigs/faces/units.yaml and, last, the lids'; ``gaze`` (N, 2, 3) are
        the directions of the left and right eye. Both are NaN without a face.
        """
        # The vertices of all people together, because people hide one another.
        seen = camera.project(self.scene.vertices(frame).astype(float))
        world = np.stack([self._world(number, frame) for number in range(len(self.landmarks))])
        joints: dict[str, NDArray[np.generic]] = {}
        for number, figure in enumerate(self.scene.figures):
            joints[f"joints_{number}"] = figure.positions[frame].astype(np.float32)
            joints[f"joint_names_{number}"] = np.array(figure.character.skeleton.names)
        return {"names": np.array(self.landmarks[0].names), "world": world.astype(np.float32),
                **self._faces(frame),
                "visibility": self._visibility(camera, seen, world),
                "outlines": self._outlines(seen).astype(np.float32), **joints}

    def _faces(self, frame: int) -> dict[str, NDArray[np.generic]]:
        units = [face_of(figure.character, figure.rotations[frame])
                 for figure in self.scene.figures]
        gaze = [gaze_of(figure.character, figure.rotations[frame])
                for figure in self.scene.figures]
        return {"face_units": np.stack(units).astype(np.float32),
                "gaze": np.stack(gaze).astype(np.float32)}

    def _world(self, number: int, frame: int) -> FloatArray:
        landmarks = self.landmarks[number]
        columns = self.scene.columns(self.scene.figures[number], frame)
        places = skinned(landmarks.matrix, columns)[0].astype(float)
        on_skin = landmarks.vertices >= 0
        # The scene's vertices are in one array, one person after another.
        first = int(np.argmax(self.scene.surface.persons == number + 1))
        places[on_skin] = self.scene.vertices(frame)[first + landmarks.vertices[on_skin]]
        return np.where(landmarks.defined[:, None], places, np.nan)

    def _visibility(self, camera: Camera, seen: FloatArray, world: FloatArray
                    ) -> NDArray[np.uint8]:
        """Return the visibility (N, K) of landmarks, by a ray from the camera to each.

        Joints are inside the body. So a landmark counts as visible if the first surface on its ray
        belongs to a body part around it, and is at most ``depth_m`` in front of it.
        """
        surface, shape = self.scene.surface, world.shape[:2]
        places = camera.project(np.nan_to_num(world).reshape(-1, 3))
        hits = first_hits(seen, surface.triangles, places[:, :2])
        # Convert depths along the camera's axis to distances along the ray.
        along = np.linalg.norm(camera.rays(places[:, :2]), axis=1)
        before = ((places[:, 2] - hits.depth) * along).reshape(shape)
        # A triangle has the labels of its last vertex (see SceneMeshes).
        last = surface.triangles[hits.triangle, 2]
        whose, part = (label[last].reshape(shape) for label in (surface.persons, surface.parts))
        own = np.stack([one.flesh[range(shape[1]), at]
                        for one, at in zip(self.landmarks, part, strict=True)])
        depth = np.stack([one.depth_m for one in self.landmarks])
        # Another person's surface in front hides the landmark at any distance.
        by_other = (before > 0) & (whose != np.arange(1, shape[0] + 1)[:, None])
        by_self = (before > depth) | ((before > 0) & ~own)
        undefined = ~np.stack([one.defined for one in self.landmarks])
        # The order matters: undefined landmarks cannot be hidden, and another person in front takes
        # precedence over the own body.
        return np.select([undefined, by_other, by_self],
                         [UNDEFINED, HIDDEN_BY_OTHER, HIDDEN_BY_SELF], VISIBLE).astype(np.uint8)

    def _outlines(self, seen: FloatArray) -> FloatArray:
        persons = self.scene.surface.persons
        return np.stack([outline_of(seen[persons == number + 1, :2])
                         for number in range(len(self.landmarks))])


def outline_of(places: FloatArray) -> FloatArray:
    """Return the outermost (M, 2) of pixels (V, 2): the first and last in rows and in columns.

    Some occur twice, so that every frame has the same number.
    """
    found = np.concatenate([_outermost(places, along) for along in (0, 1)])
    return np.asarray(places[np.resize(found, 4 * OUTLINE_PARTS)])


def _outermost(places: FloatArray, along: int) -> NDArray[np.intp]:
    """Return the indices of the least and greatest in each part of an axis of the picture."""
    axis = places[:, along] - places[:, along].min()
    part = np.minimum(axis / max(axis.max(), 1e-9) * OUTLINE_PARTS, OUTLINE_PARTS - 1).astype(int)
    order = np.lexsort([places[:, 1 - along], part])
    starts = np.unique(part[order], return_index=True)[1]
    ends = np.append(starts[1:], len(order)) - 1
    return np.asarray(order[np.concatenate([starts, ends])], np.intp)
