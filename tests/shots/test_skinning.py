import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from mimegen.characters.character import Mesh, posed_vertices
from mimegen.motion import Motion, quaternions, standard_skeleton
from mimegen.shots.skinning import joint_columns, skin_matrix, skinned


@given(seed=st.integers(0, 2**32 - 1), influences=st.integers(1, 5))
@settings(max_examples=examples(20), deadline=None)
def test_the_matrix_skins_as_the_formula_does(seed: int, influences: int) -> None:
    chance = np.random.default_rng(seed)
    skeleton = standard_skeleton()
    joints = len(skeleton.names)
    weights = chance.dirichlet(np.ones(influences), 40)
    # The same joint may influence a vertex twice.
    mesh = Mesh("m", chance.normal(0, 1, (40, 3)), np.zeros((0, 4), np.int32),
                chance.integers(0, joints, (40, influences)).astype(np.int32), weights, "cloth")
    rotations = quaternions.normalise(chance.normal(size=(3, joints, 4)))
    pose = Motion(skeleton, 24, chance.normal(0, 2, (3, 3)), rotations).global_pose
    fast = skinned(skin_matrix(mesh, joints), joint_columns(skeleton, *pose))
    assert fast.shape == (3, 40, 3)
    for frame in range(3):
        expected = posed_vertices(mesh, skeleton, pose.positions[frame], pose.rotations[frame])
        assert fast[frame] == pytest.approx(expected, abs=2e-5)
