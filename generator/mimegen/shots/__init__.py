"""Shots: one scene seen from one camera. Config, camera, framing, skinning, shadow and frames."""
