"""Read rigged files with bpy, in a process of its own."""
