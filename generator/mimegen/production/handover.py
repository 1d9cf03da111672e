"""A plan left to an executor: its tasks are handed out, and nobody waits for them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from mimegen.farm.executor import Executor
from mimegen.farm.task import Task
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.clips import finished_row
from mimegen.production.paces import known_pace
from mimegen.production.render import prepare_folders
from mimegen.production.sizes import Sizes
from mimegen.production.tasks import CastingFailed, Work, casting_tasks
from mimegen.store.store import Store

# Tasks need not become shorter towards an end that nobody waits for.
MANY = 10**9


def hand_over(plan: Plan, store: Store, out: Path, executor: Executor, task_s: float, opaque: bool,
              say: Callable[[str], None]) -> int:
    """Submit what is left of a plan, but for what the executor has already; return how much.

    Tasks last ``task_s`` seconds where it is known what pictures take. Raises RequestError as
    ``render`` does.
    """
    prepare_folders(plan, store, out)
    folder = ClipFolder.of(out, opaque)
    stills: set[str] = set()
    sizes = Sizes(task_s, left=MANY)
    submitted = len(executor.adopted)
    for part in plan.castings():
        clips = tuple(clip for clip in part.clips if finished_row(clip, store, folder) is None)
        if clips:
            left = replace(part, clips=clips, displays=())
            _learn(sizes, left)
            tasks = casting_tasks(left, store, stills, sizes.pictures)
            submitted += _submit(tasks, executor, say)
    return submitted


def _learn(sizes: Sizes, part: CastingPlan) -> None:
    """Take in what was measured of a casting's config."""
    for shot in part.shots:
        pace = known_pace(shot.config, shot.rendering.device)
        if pace is not None:
            sizes.known[shot.config.name] = pace.seconds_per_frame


def _submit(tasks: Iterator[Work], executor: Executor, say: Callable[[str], None]) -> int:
    count = 0
    for work in tasks:
        if isinstance(work, CastingFailed):
            say(work.why)
        rest = work.without(executor.adopted) if isinstance(work, Task) else None
        if rest is not None:
            executor.submit(rest)
            count += 1
    # Jobs come to the first tasks while others are still drawn.
    for _ in executor.events(0):
        pass
    return count
