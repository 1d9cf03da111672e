"""Read files of text-to-motion models: HumanML3D's and KIT-ML's joints and vectors, and results."""
