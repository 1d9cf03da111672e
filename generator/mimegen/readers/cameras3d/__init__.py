"""Joints that depth cameras and pose estimators give: NTU RGB+D, Azure Kinect, MediaPipe, OpenPose.
"""
