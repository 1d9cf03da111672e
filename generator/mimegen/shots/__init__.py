"""What is seen from one camera: config, camera, framing, posed skin, ground shadow and frames."""
