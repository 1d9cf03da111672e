"""Ground truth of shots: where every joint, person and surface is, and how it moves."""
