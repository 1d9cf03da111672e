"""Write mocap/score_facts.json: what plans need to know of the library's scores.

Run it after scores were added or edited; until then these are read, which takes longer.

    python tools/bake_score_facts.py
"""

from mimegen.base.files import publish
from mimegen.base.paths import data_folder
from mimegen.library.score_facts import FILE, baked_text

if __name__ == "__main__":
    publish(data_folder() / FILE, baked_text())
