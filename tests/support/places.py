"""Folders that tests read, wherever a test lies."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"
SUPPORT = ROOT / "tests" / "support"
# Real motion capture, which does not come with the project.
SAMPLES = ROOT.parent / "shared" / "mocap-samples"
MOTION_SAMPLES = ROOT.parent / "shared" / "motion-samples"
