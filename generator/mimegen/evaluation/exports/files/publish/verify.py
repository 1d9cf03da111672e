"""Check this set: every file against SHA256SUMS. Needs Python 3.8 or later and nothing else."""

import hashlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    """Print which files are missing, changed or unknown; return 1 if there are any."""
    lines = (HERE / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    listed = dict(reversed(line.split("  ", 1)) for line in lines)
    present = {path.relative_to(HERE).as_posix() for path in HERE.rglob("*") if path.is_file()}
    wrong = [name for name, digest in listed.items() if name not in present
             or hashlib.sha256((HERE / name).read_bytes()).hexdigest() != digest]
    extra = sorted(present - set(listed) - {"SHA256SUMS"})
    for name in wrong:
        print(f"{name}: missing or changed")
    for name in extra:
        print(f"{name}: not listed in SHA256SUMS")
    print(f"{len(listed) - len(wrong)} of {len(listed)} files are as published")
    return 1 if wrong or extra else 0


if __name__ == "__main__":
    sys.exit(main())
