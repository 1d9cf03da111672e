"""The notebooks run as written, with drafts that are smaller."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mimegen.base.paths import PACKAGE, data_folder

pytestmark = pytest.mark.render

NOTEBOOKS = sorted((PACKAGE.parents[1] / "docs" / "guide" / "notebooks").glob("*.ipynb"))


def small_draft(folder: Path) -> str:
    """Write the config draft with fewer and smaller frames, and return its name."""
    draft = (data_folder() / "render_configs" / "draft.yaml").read_text()
    for own, small in (("width: 640", "width: 160"), ("height: 360", "height: 90"),
                       ("fps: 24", "fps: 8")):
        assert own in draft
        draft = draft.replace(own, small)
    (folder / "small.yaml").write_text(draft)
    return "small.yaml"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_as_written(notebook: Path, tmp_path: Path, context: Any,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(
        [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]))
    content = nbformat.read(notebook, as_version=4)
    config = small_draft(tmp_path)
    for cell in content.cells:
        cell.source = cell.source.replace('config="draft"', f'config="{config}"')
    client.NotebookClient(content, timeout=600,
                          resources={"metadata": {"path": tmp_path}}).execute()
    printed = [output for cell in content.cells if cell.cell_type == "code"
               for output in cell.outputs]
    assert not [one for one in printed if one.output_type == "stream" and one.name == "stderr"]
    assert any("image/png" in one.get("data", {}) for one in printed), "a picture is inline"


def test_there_are_three_and_they_hold_no_outputs() -> None:
    assert len(NOTEBOOKS) == 3
    for notebook in NOTEBOOKS:
        cells = json.loads(notebook.read_text())["cells"]
        assert not any(cell.get("outputs") for cell in cells)
