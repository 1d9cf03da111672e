"""Scripts that Blender runs, in a separate process, to read files."""
