"""Blender: scene, camera, light, render.

Files here named ``blender_*.py`` run in worker processes and are the only ones that import bpy.
"""
