"""How similar clips look: keyframes, perceptual hashes, and a threshold for too similar."""
