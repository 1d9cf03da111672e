"""Rendered frames and a background become a video."""
