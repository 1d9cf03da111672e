"""Everything that imports bpy for the stage; it runs in worker processes only."""
