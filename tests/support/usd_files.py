"""USD skeletons as text, after UsdSkel's schemas: a motion without a body."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mimegen.motion import Motion


def write_usda(path: Path, motion: Motion, up: str = "Z") -> Path:
    """Write a motion as a skeleton with an animation, in metres."""
    skeleton = motion.skeleton
    paths: list[str] = []
    for joint, name in enumerate(skeleton.names):
        above = int(skeleton.parents[joint])
        paths.append(name if above < 0 else f"{paths[above]}/{name}")
    names = ", ".join(f'"{one}"' for one in paths)
    offsets = skeleton.heads - np.where(skeleton.parents[:, None] < 0, 0.0,
                                        skeleton.heads[np.maximum(skeleton.parents, 0)])
    bind = ", ".join(_matrix(np.eye(3), head) for head in skeleton.heads)
    rest = ", ".join(_matrix(np.eye(3), offset) for offset in offsets)
    turns = _samples(f"[{', '.join(_tuple(one) for one in frame)}]" for frame in motion.rotations)
    places = _samples("[" + ", ".join(_tuple(one) for one in np.concatenate(
        [root[None], offsets[1:]])) + "]" for root in motion.root_positions)
    path.write_text(f'''#usda 1.0
(
    defaultPrim = "Person"
    metersPerUnit = 1
    upAxis = "{up}"
    startTimeCode = 0
    endTimeCode = {motion.frames - 1}
    timeCodesPerSecond = {motion.fps:g}
)

def SkelRoot "Person"
{{
    def Skeleton "Skel" (
        prepend apiSchemas = ["SkelBindingAPI"]
    )
    {{
        uniform token[] joints = [{names}]
        uniform matrix4d[] bindTransforms = [{bind}]
        uniform matrix4d[] restTransforms = [{rest}]
        rel skel:animationSource = </Person/Skel/Anim>

        def SkelAnimation "Anim"
        {{
            uniform token[] joints = [{names}]
            quatf[] rotations.timeSamples = {{{turns}}}
            half3[] scales = [{", ".join(["(1, 1, 1)"] * len(paths))}]
            float3[] translations.timeSamples = {{{places}}}
        }}
    }}
}}
''')
    return path


def _samples(values: Any) -> str:
    return ", ".join(f"{number}: {value}" for number, value in enumerate(values))


def _tuple(values: NDArray[Any]) -> str:
    return f"({', '.join(f'{value:.6f}' for value in values)})"


def _matrix(turn: NDArray[Any], place: NDArray[Any]) -> str:
    rows = np.eye(4)
    rows[:3, :3], rows[3, :3] = turn.T, place
    return f"({', '.join(_tuple(row) for row in rows)})"
