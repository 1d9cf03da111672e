"""Worker processes that render: Blender's Cycles (``cycles/``) and OpenGL (``opengl/``).

Only folders named ``cycles`` or ``blender`` import bpy, and run in processes of their own.
"""
