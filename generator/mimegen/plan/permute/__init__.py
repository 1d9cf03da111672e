"""Permutations: clips drawn at random or by a design from all that can be declared."""
