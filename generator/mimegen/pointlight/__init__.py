"""Point-light displays: turn motions into dots, manipulate, draw and export them without Blender.

A `Display` (``spec``) describes a display. ``scenes`` makes the dots of its performers or markers,
``stimulus`` applies its manipulations and view to them, ``drawing`` draws the result, and
``outputs`` and ``filming`` write it. ``record`` makes its entries in the manifest.
"""
