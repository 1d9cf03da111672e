"""Hand actions, generated as scores from a small grammar of shapes, turns, places and paths."""
