"""Write what plans need to know of the library, so that the first one is fast too.

`mocap/score_facts.json` has the lengths of scores, `backgrounds/shown.json` how much of its place
a picture shows. Run it after scores, sets or what looks at them were edited; until then these are
read and looked at anew, which takes longer and gives the same.

    python tools/bake_plans.py
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from mimegen.base.files import publish
from mimegen.base.paths import data_folder
from mimegen.library.score_facts import FILE, baked_text
from mimegen.plan.background_visibility import BAKED, SHOWN

CONFIGS = ("draft", "preview", "standard", "mime")
_HASH = 64  # letters before what a cache file holds


def shown_text() -> str:
    """Return what plans of all actions find out about places, by its keys."""
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as cache:
        for config in CONFIGS:
            subprocess.run(
                [sys.executable, "-m", "mimegen", "plan", "--action", "all", "--take", "all",
                 "--variants", "all", "--config", config, "--out", f"{cache}/out"],
                env=os.environ | {"XDG_CACHE_HOME": cache}, check=True, stdout=subprocess.DEVNULL)
        for file in Path(cache).glob(f"mimegen/{SHOWN}/*/*.json"):
            found[file.parent.name + file.stem] = json.loads(file.read_text()[_HASH:])
    return json.dumps(found, sort_keys=True, indent=0) + "\n"


if __name__ == "__main__":
    publish(data_folder() / FILE, baked_text())
    (data_folder() / BAKED).unlink(missing_ok=True)
    publish(data_folder() / BAKED, shown_text())
