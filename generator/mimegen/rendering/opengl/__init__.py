"""The raster engine: figures and sets drawn with OpenGL, in a process of its own without bpy."""
