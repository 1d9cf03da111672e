"""Photographs that become backgrounds: opened, their cameras and light found, written as files."""
