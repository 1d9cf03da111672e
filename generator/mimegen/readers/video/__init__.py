"""Videos of one person: where MediaPipe sees the body's joints, as a file of landmarks."""
