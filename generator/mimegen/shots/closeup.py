"""Decide whether a render config shows close-ups of faces."""

from mimegen.shots.config import FramedCamera, RenderConfig


def shows_faces(config: RenderConfig) -> bool:
    """Return whether a config's camera frames only a head, so that face wrinkles are rendered."""
    camera = config.camera
    return isinstance(camera, FramedCamera) and (
        camera.head_only or camera.head_room_m is not None)
