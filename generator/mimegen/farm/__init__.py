"""Carries out a plan."""
