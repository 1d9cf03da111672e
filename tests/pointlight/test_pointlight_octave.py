"""Manipulations against their published definitions, computed by GNU Octave on the same motion."""
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from mimegen.pointlight.outputs import write_data3d
from places import ROOT
from test_pointlight import stimulus

LIFE = 4


@pytest.mark.skipif(shutil.which("octave-cli") is None, reason="GNU Octave is not installed")
def test_manipulations_follow_their_published_definitions(tmp_path: Path) -> None:
    anchored = "local=all"
    for name, words in {
        "plain": (), "inverted": ("inverted",), "scrambled": ("scrambled",),
        "phase": ("phase_scrambled",), "lifetime": (f"limited_lifetime={LIFE}/count=8",),
    }.items():
        made = stimulus(anchored, *words, azimuth_deg=60.0, seed=2)
        write_data3d(made, tmp_path / f"{name}.txt")
        if name == "plain":
            np.savetxt(tmp_path / "limbs.txt", made.dots.limbs + 1, fmt="%d")
    done = subprocess.run(
        ["octave-cli", "--quiet", "--no-init-file", "--path", str(ROOT / "tests" / "pointlight"),
         "--eval", f"pointlight_definitions('{tmp_path}', {LIFE})"],
        capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
    assert set(found) == {"inversion", "spatial", "outside", "phase", "lifetime", "lifespans"}
    # The files are written to a tenth of a micrometre; nothing may differ by more than a rounding.
    assert max(found.values()) < 0.001, found
