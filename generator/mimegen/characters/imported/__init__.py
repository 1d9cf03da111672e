"""Rigged FBX and glTF files as characters."""
