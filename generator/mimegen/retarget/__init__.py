"""From motions to performances: any skeleton's motion on any character."""

from mimegen.retarget.transfer import retarget, retarget_scene

__all__ = ["retarget", "retarget_scene"]
