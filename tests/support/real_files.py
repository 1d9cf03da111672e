"""Names of the real BVH files in the folder of samples."""

NAMES = [
    "anim_fair_jumping", "anim_rokoko_jesse_dance", "assimp_Boxing_Toes", "avatarlab_boxing",
    "bandai1_punch_normal_001", "bandai2_run_active_001", "bvhpython_test_freebvh", "cmu_18_01",
    "cmu_19_01", "dme_xia_strutting_01_000", "gpmat_Swagger", "optitrack_milad",
    "pybvh_bvh_test1", "pybvh_bvh_test2", "pybvh_cmu_12_01_walk", "pymo_AV_8Walk",
]
