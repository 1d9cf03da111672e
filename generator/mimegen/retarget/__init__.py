"""Retarget motions: let any character perform the motion of any skeleton.

The source is a motion with its skeleton, the target a character. Both have joints with roles, such
as ``left_forearm``. `retarget` works in this order:

1. ``rest`` and ``trunk`` turn rotations of the source into rotations of the target's bones, and
   ``transfer`` scales the path of the hips.
2. ``hands`` brings hands to what they touch or hold in the source.
3. ``ground`` lifts the body out of the ground, and ``feet`` plants the feet.
4. ``arms`` takes arms out of each other and of the trunk.
5. ``clearance`` takes hands and forearms out of the body's skin, ``hand_on_hand`` hands out of each
   other.
6. ``meeting`` lets several people touch each other as in the sources.

``report`` measures the result.
"""

from mimegen.retarget.transfer import retarget, retarget_scene

__all__ = ["retarget", "retarget_scene"]
