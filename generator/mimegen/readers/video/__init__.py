"""Read videos of one person: MediaPipe finds the body's joints, written as a file of landmarks."""
