"""Read a C3D file with ezc3d: ``python ezc3d_file.py IN OUT``.

This runs in a separate process, because damaged files can crash the library. OUT becomes a NumPy
archive: ``header`` is JSON text; ``positions`` (F, M, 3) are in the file's unit and axes.
"""

import json
import resource
import sys
from pathlib import Path
from typing import Any

import ezc3d
import numpy as np

# Limits of memory and processor time.
BYTES_TO_READ = 4 << 30
SECONDS_TO_READ = 20
SCREEN = ("X_SCREEN", "Y_SCREEN")
NOT_PLACES = ("ANGLES", "FORCES", "MOMENTS", "POWERS", "SCALARS")


def main(source: Path, target: Path) -> None:
    """Read ``source`` and write the archive ``target``."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_TO_READ, BYTES_TO_READ))
    # A limit of its own, in case the process that waits for this one is gone.
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_TO_READ, SECONDS_TO_READ))
    found = ezc3d.c3d(str(source))
    group = found["parameters"]["POINT"]
    header = {
        "labels": [label.strip() for label in _value(group, "LABELS")],
        "fps": float(np.ravel(_value(group, "RATE"))[0]),
        "unit": next(iter(_value(group, "UNITS")), "").strip(),
        "screen": [next(iter(_value(group, name)), "").strip() for name in SCREEN],
        "not_places": [label.strip() for name in NOT_PLACES for label in _value(group, name)],
    }
    positions = np.moveaxis(found["data"]["points"][:3], (0, 1, 2), (2, 1, 0))
    with target.open("wb") as opened:
        np.savez(opened, positions=np.ascontiguousarray(positions),
                 header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))


def _value(group: Any, name: str) -> Any:
    """Return a parameter's value, or nothing if it is missing."""
    return group[name]["value"] if name in group else []


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
