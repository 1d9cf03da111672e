"""Faults that a clip is given on purpose, in graded amounts, and a record of each."""
