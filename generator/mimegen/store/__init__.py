"""Where finished pieces lie under their content keys."""
