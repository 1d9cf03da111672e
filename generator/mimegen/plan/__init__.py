"""Declare what to make (variants, shots and clips), each with its content key."""
