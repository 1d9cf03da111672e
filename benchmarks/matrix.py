"""mimegen beside the paper's pipeline: the same take, frames and variants on one machine.

    python benchmarks/matrix.py --frames 2 [--variants mime] [--config mime_fast] [--write]
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from costs import Cost, cost_of, megabytes_below, put_into
from reference_pipeline import run_reference
from scene import config_with, library_of_pictures, rate_for

DOCUMENT = Path(__file__).parents[1] / "docs" / "research" / "performance.md"


def run_mimegen(action: str, variants: str, frames: int, config: str, out: Path, library: Path,
                device: str) -> dict[str, Cost]:
    """Make every variant's clip with one command; return the cost of each stage.

    Stages are told apart by running again: with nothing left to do, with the clips to make
    again, and with all to do.
    """
    settings = config_with(config, rate_for(action, frames), out / "config.yaml")
    command = [sys.executable, "-m", "mimegen", "render", "--action", action, "--variants",
               variants, "--config", settings, "--library", library, "--device", device,
               "--out", out / "run", "--quiet"]
    whole, nothing = cost_of(command), cost_of(command)
    shutil.rmtree(out / "run" / "clips")
    shutil.rmtree(out / "run" / "store" / "clips")
    clips = cost_of(command) - nothing
    return {"start and plan": nothing, "read, retarget, render": whole - nothing - clips,
            "compose, encode": clips}


def warm(action: str, config: str, out: Path, library: Path, device: str) -> None:
    """Make two frames both ways, so that no later run pays for a GPU's kernels being compiled."""
    out.mkdir()
    run_mimegen(action, "base+blank@0", 2, config, out, library, device)
    run_reference(action, "base+blank@0", 2, out, library, device)


def table(reference: dict[str, Cost], ours: dict[str, Cost], written: tuple[float, float]) -> str:
    """Return the comparison as a table of text."""
    lines = ["| | stage | CPU s | wall s | peak MB | written MB |", "|---|---|---:|---:|---:|---:|"]
    totals = []
    for name, costs, megabytes in (("paper's way", reference, written[0]),
                                   ("mimegen", ours, written[1])):
        for stage, cost in costs.items():
            lines.append(f"| {name} | {stage} | {cost.cpu_s:.1f} | {cost.wall_s:.1f} |"
                         f" {cost.peak_mb:.0f} | |")
        first, *rest = costs.values()
        total = sum(rest, first)
        totals.append(total)
        lines.append(f"| **{name}** | **in all** | **{total.cpu_s:.1f}** | **{total.wall_s:.1f}**"
                     f" | {total.peak_mb:.0f} | {megabytes:.1f} |")
    one, other = totals
    lines.append(f"| **ratio** | | **{one.cpu_s / other.cpu_s:.1f}** |"
                 f" **{one.wall_s / other.wall_s:.1f}** | {one.peak_mb / other.peak_mb:.2f} |"
                 f" {written[0] / written[1]:.1f} |")
    return "\n".join(lines)


def main() -> None:
    """Run both sides and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--action", default="basketball_shot")
    parser.add_argument("--variants", default="mime")
    parser.add_argument("--frames", type=int, default=2)
    parser.add_argument("--config", default="mime_fast")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--write", action="store_true", help=f"also into {DOCUMENT.name}")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mimegen-bench-") as folder:
        out = Path(folder)
        library = library_of_pictures(out / "library", given.action)
        if given.device != "cpu":
            warm(given.action, given.config, out / "warm", library, given.device)
        (out / "ours").mkdir()
        ours = run_mimegen(given.action, given.variants, given.frames, given.config,
                           out / "ours", library, given.device)
        reference = run_reference(given.action, given.variants, given.frames, out / "reference",
                                  library, given.device)
        text = table(reference, ours, (megabytes_below(out / "reference"),
                                       megabytes_below(out / "ours")))
    title = (f"`{given.action}`, variants {given.variants}, {given.frames} frames,"
             f" `{given.config}`, {given.device}, {os.cpu_count()} cores.")
    print(title, text, sep="\n\n")
    print(json.dumps({side: {stage: cost.as_dict() for stage, cost in costs.items()}
                      for side, costs in (("reference", reference), ("mimegen", ours))}))
    if given.write:
        put_into(DOCUMENT, "matrix", f"{title}\n\n{text}")


if __name__ == "__main__":
    main()
