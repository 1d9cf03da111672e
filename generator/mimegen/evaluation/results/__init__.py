"""The report of an evaluation: plots, and one page that stands alone."""
