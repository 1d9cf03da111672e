"""Names to things: what the library holds, takes, who performs them, what users bring."""
