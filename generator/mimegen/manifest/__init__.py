"""The manifest: one row per clip, typed, versioned, read and written in one place."""
