"""Permutations: clips drawn from the space of all that can be declared, and planned."""
