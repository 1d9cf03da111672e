"""Actions of hands by a small grammar: shapes, turns, places and ways, as scores."""
