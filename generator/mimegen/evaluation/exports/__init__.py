"""Clips and questions in the forms that other programs read."""
