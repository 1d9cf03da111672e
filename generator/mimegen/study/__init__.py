"""Experiments with people: a page that shows clips and asks, and a server that keeps answers."""
