"""The manifest: one typed, versioned row per clip, and the code that reads and writes it."""
