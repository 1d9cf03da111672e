"""SMPL, SMPL-H and SMPL-X: motion capture archives, and what finds bodies in videos."""
