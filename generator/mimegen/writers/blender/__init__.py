"""Writing with Blender, in a process of its own."""
