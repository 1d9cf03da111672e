"""Point-light displays: turn motions into dots, manipulate, draw and export them without Blender.
"""
