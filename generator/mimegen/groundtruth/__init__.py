"""Ground truth of shots: positions and movement of joints, persons and surfaces."""
