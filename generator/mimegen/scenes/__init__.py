"""Scenes: what one or two performers do one after another in one place, compiled to a score."""
