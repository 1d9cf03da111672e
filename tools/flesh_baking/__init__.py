"""How flesh is simulated and skin fitted to it: the parts of tools/bake_flesh.py."""
