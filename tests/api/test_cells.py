"""Requests in a notebook's cells: what is shown, and what Ctrl-C leaves."""

import os
from pathlib import Path
from typing import Any

import pytest

from mimegen.base.paths import PACKAGE

QUIET = """
import mimegen as mg
dots = dict(variants="pointlight@0", out="dots", config="draft")
mg.render("boxing", **dots);
"""
SHOWN = """
mg.render(["boxing", "guitar"], progress=True, **dots);
"""
# As the stop button of a notebook does, which sends SIGINT to the kernel.
STOPPED = """
import os, signal, threading, time
from pathlib import Path
def stop():
    while not list(Path("out/store/shots").rglob("*.npz")):
        time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=stop).start()
figure = dict(variants="base+blank@0", out="out", config="draft")
try:
    mg.render("boxing", **figure)
except KeyboardInterrupt:
    print("stopped", len(list(Path("out/store").rglob(".*.part*"))))
def workers():
    owners = (Path(f"{task}/children").read_text().split() for task in
              Path("/proc/self/task").glob("*"))
    return [one for some in owners for one in some
            if b"mimegen" in Path(f"/proc/{one}/cmdline").read_bytes()]
print(workers())
"""
AGAIN = """
clip, = mg.render("boxing", **figure)
print(clip.row.frames == sum(1 for _ in clip.frames()))
"""


def test_cells_show_what_is_asked_for_and_end_cleanly(
        tmp_path: Path, context: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(
        [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]))
    cells = [nbformat.v4.new_code_cell(code) for code in (QUIET, SHOWN, STOPPED, AGAIN)]
    client.NotebookClient(nbformat.v4.new_notebook(cells=cells), timeout=300,
                          resources={"metadata": {"path": tmp_path}}).execute()
    quiet, shown, stopped, again = (cell.outputs for cell in cells)
    assert quiet == []
    bar, = [one for one in shown if one.output_type == "display_data"]
    assert "clips 2/2" in bar["data"]["text/plain"]
    assert "<progress" in bar["data"]["text/html"]
    assert not any("done" in one.get("text", "") for one in shown)
    assert [one["text"] for one in stopped] == ["stopped 0\n[]\n"]
    assert [one["text"] for one in again] == ["True\n"]
