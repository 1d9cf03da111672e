"""From clips to an answer: questions, audits, scores. Reads manifests, never Blender."""
