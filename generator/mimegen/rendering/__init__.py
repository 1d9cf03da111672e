"""Worker processes that render: Blender's Cycles (``cycles/``) and OpenGL (``opengl/``).

Only modules in folders named ``cycles`` or ``blender`` import bpy; they run in separate processes.
"""
