"""Rendering with Blender's Cycles. These modules import bpy and run in worker processes only."""
