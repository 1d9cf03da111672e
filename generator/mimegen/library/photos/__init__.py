"""Turn photographs into backgrounds: open them, find camera and light, and write the files."""
