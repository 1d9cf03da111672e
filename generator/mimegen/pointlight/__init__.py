"""Point-light displays: a motion becomes dots, manipulated, drawn and exported; no Blender."""
