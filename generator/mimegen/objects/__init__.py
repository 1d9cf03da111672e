"""What the Python API hands out: takes, performances, displays of dots, clips."""
