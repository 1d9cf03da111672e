"""How alike clips look: keyframes, their perceptual hashes, and what counts as too near."""
