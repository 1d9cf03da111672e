"""Read joints from depth cameras and pose estimators: NTU RGB+D, Azure Kinect, MediaPipe, OpenPose.
"""
