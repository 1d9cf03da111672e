"""Export clips and questions in the formats of other programs."""
