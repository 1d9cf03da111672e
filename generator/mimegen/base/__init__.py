"""What every room uses and nobody else owns: errors, paths, files, YAML."""
