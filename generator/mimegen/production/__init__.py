"""The main job: a plan becomes clips and their manifest."""
