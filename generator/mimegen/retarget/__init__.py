"""Retarget motions: let any character perform the motion of any skeleton."""

from mimegen.retarget.transfer import retarget, retarget_scene

__all__ = ["retarget", "retarget_scene"]
