"""Write files with Blender, in a separate process."""
