"""What faces can be told: words, emotions in time, captured faces and speech."""
