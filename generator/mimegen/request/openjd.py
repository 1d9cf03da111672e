"""Write the steps of a plan file as an Open Job Description for OpenJD's schedulers."""

from pathlib import Path
from typing import Any

from mimegen.request.planfile import PlanFile

# Target duration of a chunk of frames in seconds, and its length in frames if the time per frame
# was not measured.
CHUNK_SECONDS = 180
CHUNK_FRAMES = 24


def job_template(path: Path, plan_file: PlanFile, name: str, command: str,
                 seconds_per_frame: float | None) -> dict[str, Any]:
    """Return an Open Job Description (2023-09, with TASK_CHUNKING) of a plan file's steps.

    Stills and frames are split into chunks that any machine with access to the store can do by
    running ``command``. The clips follow in one step. ``seconds_per_frame`` is None if not
    measured.
    """
    count = max(1, round(CHUNK_SECONDS / seconds_per_frame)) if seconds_per_frame else CHUNK_FRAMES
    steps = [
        *_chunked("Stills", "Still", "--stills", len(plan_file.stills), 1),
        *_chunked("Frames", "Frame", "--frames", plan_file.frames, count),
    ]
    clips: dict[str, Any] = {"name": "Clips", "script": _script("--clips")}
    if steps:
        clips["dependencies"] = [{"dependsOn": step["name"]} for step in steps]
    return {
        "specificationVersion": "jobtemplate-2023-09", "extensions": ["TASK_CHUNKING"],
        "name": name[:128],
        "parameterDefinitions": [
            {"name": "PlanFile", "type": "PATH", "objectType": "FILE", "dataFlow": "IN",
             "default": path.name, "description": "What mimegen plan wrote beside the template."},
            {"name": "Mimegen", "type": "STRING", "default": command,
             "description": "The command on the machines that work."},
        ],
        "steps": [*steps, clips],
    }


def _chunked(name: str, parameter: str, option: str, count: int, chunk: int
             ) -> list[dict[str, Any]]:
    """Return a step that runs chunks of numbered tasks; an empty list if there are none."""
    if not count:
        return []
    return [{
        "name": name,
        "parameterSpace": {"taskParameterDefinitions": [{
            "name": parameter, "type": "CHUNK[INT]", "range": f"0-{count - 1}",
            "chunks": {"defaultTaskCount": chunk, "targetRuntimeSeconds": CHUNK_SECONDS,
                       "rangeConstraint": "CONTIGUOUS"}}]},
        "script": _script(option, f"{{{{Task.Param.{parameter}}}}}"),
    }]


def _script(*arguments: str) -> dict[str, Any]:
    return {"actions": {"onRun": {"command": "{{Param.Mimegen}}",
                                  "args": ["work", "{{Param.PlanFile}}", *arguments]}}}
