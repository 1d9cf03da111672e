"""The report of an evaluation: plots and one self-contained page."""
