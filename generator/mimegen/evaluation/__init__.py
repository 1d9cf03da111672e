"""From clips to results: questions, audits and scores. Reads manifests; never needs Blender."""
