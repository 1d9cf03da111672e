"""Compose rendered frames over a background and encode them as a video."""
