"""Deliberate faults in clips, such as floating or extra fingers, graded and recorded."""
