"""From rigs/*.yaml to bodies: mesh, skin weights, skeleton and outfit."""
