"""The raster engine: draws figures and sets with OpenGL, in a separate process without bpy."""
