"""Read parameters of SMPL, SMPL-H and SMPL-X from motion archives and tools that track bodies."""
