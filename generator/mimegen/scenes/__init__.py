"""Scenes: sequences of actions by one or two performers in one place, compiled to a score."""
