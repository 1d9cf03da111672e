"""The stage: camera, framing, light and shadow; the worker processes that hold Blender.

Only folders named ``blender`` import bpy, and run in processes of their own.
"""
