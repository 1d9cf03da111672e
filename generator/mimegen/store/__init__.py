"""The store: finished pieces under their content keys."""
