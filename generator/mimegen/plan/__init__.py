"""What to make: variants, shots and clips as declarations, each with its content key."""
