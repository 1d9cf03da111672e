"""Scores and seeds to motions: the takes that come with mimegen."""
