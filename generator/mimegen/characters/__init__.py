"""Characters: rigs/*.yaml built into skinned meshes with a skeleton and an outfit."""
