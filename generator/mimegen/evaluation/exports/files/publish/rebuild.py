"""Make random clips of this set again from their rows, and compare their bytes.

    python rebuild.py [--count 3] [--seed 0]

Needs the command mimegen, of the version that the rows name, and the public folder beside this one.
Other options go to mimegen verify: --library DIR, or --motion FILE for a recording of your own,
found by its hash; --motion may be repeated.
"""

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CLIPS = HERE.parent / "public" / "clips"
SAME = "the same bytes"
MADE_BY = ("shot_key", "mimegen_version", "numpy_version")


def digest(path):
    """Return the SHA-256 of a file, or None if it does not exist."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def render_again(rows, folder, options):
    """Make the clips of rows into a new folder, and return their new rows by name."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "manifest.jsonl").write_text(text, encoding="utf-8")
    done = subprocess.run(["mimegen", "verify", str(folder), "--repair", *options],
                          capture_output=True, text=True)
    if done.returncode != 0:
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
    made = (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["sample_id"]: row for row in map(json.loads, made)}


def verdict(row, made, clip, again):
    """Return the result for a clip: the same bytes, made by another version, or different."""
    if digest(again) == digest(clip) is not None:
        return SAME
    if any(made.get(name) != row.get(name) for name in MADE_BY):
        return "made by another version of mimegen, Blender or NumPy; install that of its row"
    return "DIFFERENT" if again.is_file() else "could not be made"


def main():
    """Print for each clip whether it is the same; return 1 unless all are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=3, help="number of clips (default 3)")
    parser.add_argument("--seed", type=int, default=0, help="which clips are drawn (default 0)")
    chosen_by, options = parser.parse_known_args()
    lines = (HERE / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    chosen = random.Random(chosen_by.seed).sample(rows, min(chosen_by.count, len(rows)))
    published = {row["sample_id"]: row.pop("published_as") for row in chosen}
    same = 0
    with tempfile.TemporaryDirectory() as name:
        made = render_again(chosen, Path(name), options)
        for row in chosen:
            clip, again = CLIPS / published[row["sample_id"]], Path(name) / row["file_name"]
            found = verdict(row, made.get(row["sample_id"], {}), clip, again)
            same += found == SAME
            print(f"{clip.name}: {found}")
    print(f"{same} of {len(chosen)} clips are the same")
    return 0 if same == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
