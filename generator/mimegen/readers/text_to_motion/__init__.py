"""What text-to-motion models write: HumanML3D's joints and vectors, KIT-ML's, and whole results."""
