"""Shared basics of all packages: errors, paths, files, YAML."""
