"""Background sets: their declaration, their layout and their shapes."""
