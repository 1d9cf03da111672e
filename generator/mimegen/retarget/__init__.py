"""From motions to performances: any skeleton's motion on any character."""

from mimegen.retarget.transfer import retarget

__all__ = ["retarget"]
