"""Materials in Blender, in a process of its own."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.engines

CODE = """
import io
import bpy
from PIL import Image
from mimegen.characters.build import build_character
from mimegen.characters.character import Material
from mimegen.characters.sampling import sample_character
from mimegen.characters.spec import read_character
from mimegen.base.paths import data_folder
from mimegen.rendering.cycles.materials import make_material

for name in ("man", "woman", "spacesuit", 6, 7, 15):
    character = build_character(
        sample_character(name) if isinstance(name, int) else
        read_character(data_folder() / "rigs" / f"{name}.yaml"))
    for mesh in character.meshes:
        made = make_material(character.materials[mesh.material])
        for node in made.node_tree.nodes:
            if node.bl_idname == "ShaderNodeAttribute":
                wanted = node.attribute_name
                assert wanted in mesh.attributes, (name, mesh.name, wanted)

packed = io.BytesIO()
Image.new("RGB", (3, 2), (255, 0, 0)).save(packed, "PNG")
made = make_material(Material("photo", "image", {"roughness": 0.5, "metallic": 0.0},
                              packed.getvalue()))
picture = next(n.image for n in made.node_tree.nodes if n.bl_idname == "ShaderNodeTexImage")
assert tuple(picture.size) == (3, 2)
assert tuple(picture.pixels[:3]) == (1.0, 0.0, 0.0)
print("all materials made")
"""


def test_every_material_can_be_made_and_finds_its_attributes() -> None:
    answer = subprocess.run([sys.executable, "-W", "ignore", "-c", CODE], capture_output=True,
                            text=True, check=False)
    assert "all materials made" in answer.stdout, answer.stderr[-800:]
