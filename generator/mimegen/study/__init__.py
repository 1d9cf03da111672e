"""Experiments with people: a web page that shows clips and asks, and a server for the answers."""
