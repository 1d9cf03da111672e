"""Read files with rotations of bones or joints: MVNX, Motive's bones and OpenSim's angles."""
