"""Inputs that control a face: words, emotions over time, captured faces, speech and gaze."""
