"""``mimegen status``: show the progress of a folder's jobs, from any machine that sees it."""

import json
import time
from pathlib import Path
from typing import Any

import click

from mimegen.commands.common import DONE, exits_cleanly
from mimegen.manifest.left_out import LeftOutCell, variants_by_reason
from mimegen.production.progress import duration, roughly
from mimegen.production.status import FAILED, STOPPED, status

# Seconds between two updates of --watch.
EVERY_S = 2.0
# Most lines of one kind; the rest is only counted.
MOST_LINES = 40


@click.command("status")
@exits_cleanly
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object that lists every"
                                                      " clip.")
@click.option("--watch", "watches", is_flag=True, help="Print the status every two seconds while a"
                                                       " job runs.")
def status_command(out: Path, as_json: bool, watches: bool) -> int:
    """Show the progress of jobs that write to OUT.

    Works on any machine that can read OUT.
    """
    while True:
        report = status(out)
        if watches and not as_json:
            click.clear()
        click.echo(json.dumps(report, ensure_ascii=False) if as_json else _text(report))
        if not watches or not any(job["runs"] for job in report["jobs"]):
            return DONE
        time.sleep(EVERY_S)


def _text(report: dict[str, Any]) -> str:
    """Return the status as text for people."""
    clips, shots = report["clips"], report["shots"].values()
    done = sum(shot["state"] == "done" for shot in shots)
    counts = [f"clips  {clips['done']} done", f"{clips['waiting']} waiting",
              f"{clips['failed']} failed"]
    if clips["stopped"]:
        counts.append(f"{clips['stopped']} stopped")
    if report["not_reached"]:
        yet = "" if _nothing_runs(report) else " yet"
        counts.append(f"{report['not_reached']} not reached{yet}")
    reached = f"the {len(shots)} reached so far" if report["not_reached"] else f"{len(shots)}"
    lines = [", ".join(counts), *_what_to_do(report),
             f"shots  {done} of {reached} have all their frames"]
    if report["passes"]:
        lines.append("passes " + ", ".join(f"{kind} of {count}" for kind, count
                                           in report["passes"].items()) + " clips")
    for job in report["jobs"]:
        lines += _job_lines(job)
    lines += [_slurm_line(left) for left in report["slurm"]]
    lines += _some([f"  {shot['frames']:4d} of {shot['of']:4d} frames  {shot['title']}"
                    f"  ({shot['state']})" for shot in shots if shot["state"] != "done"])
    lines += _some([f"  {name}  {clip['state']}: {clip.get('why')}"
                    for name, clip in report["clip_states"].items()
                    if clip["state"] in (FAILED, STOPPED)])
    lines += _some(_left_out_lines(report["left_out"]))
    return "\n".join(lines)


def _nothing_runs(report: dict[str, Any]) -> bool:
    """Return whether no job runs."""
    return not any(job["runs"] for job in report["jobs"])


def _what_to_do(report: dict[str, Any]) -> list[str]:
    """Return a line for clips of a stopped job."""
    if not _nothing_runs(report) or not (report["clips"]["stopped"] or report["not_reached"]):
        return []
    return ["       the job was stopped: run the same command again to make them"]


def _job_lines(job: dict[str, Any]) -> list[str]:
    since = time.strftime("%Y-%m-%d %H:%M", time.localtime(job["since"]))
    sign = duration(job["seconds_since_sign"])
    if job["runs"]:
        state = f"running, last update {sign} ago"
    elif job["ended"]:
        state = f"ended {sign} ago" + (f": {job['why']}" if job["why"] else "")
    else:
        state = f"was killed, last update {sign} ago"
    rate = f", {job['frames_per_s']:.3g} frames/s" if job["frames_per_s"] else ""
    left = f", about {roughly(job['left_s'])} left" if job["left_s"] else ""
    now = time.time()
    return [f"job    {job['host']} process {job['pid']}, since {since}, {state}; {job['frames']}"
            f" frames in finished tasks{rate}{left}",
            *(f"  at {task['title']}{' on ' + task['worker'] if task['worker'] else ''},"
              f" for {duration(now - task['since'])}" for task in job["tasks"])]


def _slurm_line(left: dict[str, Any]) -> str:
    """Return what is left to Slurm's jobs; whether these still live, only Slurm knows."""
    return (f"slurm  {left['waiting']} tasks waiting, {len(left['jobs'])} taken by jobs, clips and"
            f" manifest to be finished; if squeue --name={left['name']} lists no job, they were"
            " cancelled or lost: run the same command again, or delete the folder slurm if all"
            " clips are done")


def _left_out_lines(cells: list[dict[str, Any]]) -> list[str]:
    """Return a line for the cells of a take that are left out for the same reason."""
    variants = variants_by_reason(LeftOutCell(**cell) for cell in cells)
    return [f"  {take}: {', '.join(names)} left out in {config}: {why}" if take == action else
            f"  {action}, {take}: {', '.join(names)} left out in {config}: {why}"
            for (action, take, config, why), names in variants.items()]


def _some(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_LINES
    return lines[:MOST_LINES] + ([f"  and {more} more"] if more > 0 else [])
