"""Submit a plan's tasks to an executor without waiting for their results."""

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

# More pictures than any plan has, so that tasks are not shortened towards the end of a job: nobody
# waits for this one.
MANY = 10**9


def hand_over(plan: Plan, store: Store, out: Path, executor: Executor, task_s: float, opaque: bool,
              say: Callable[[str], None]) -> int:
    """Submit a plan's remaining tasks, except those the executor already has; return their number.

    The number includes the tasks that the executor already had. Tasks last about ``task_s`` seconds
    if the config's pace is known. Raises RequestError as ``render`` does.
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
    """Tell ``sizes`` the measured seconds per picture of a casting's configs."""
    for shot in part.shots:
        pace = known_pace(shot.config, shot.rendering.device)
        if pace is not None:
            sizes.known[shot.config.name] = pace.seconds_per_frame


def _submit(tasks: Iterator[Work], executor: Executor, say: Callable[[str], None]) -> int:
    """Submit tasks, except those the executor already has; return how many were submitted."""
    count = 0
    for work in tasks:
        if isinstance(work, CastingFailed):
            say(work.why)
        rest = work.without(executor.adopted) if isinstance(work, Task) else None
        if rest is not None:
            executor.submit(rest)
            count += 1
    # Let the executor start on the first tasks while further ones are still being drawn.
    for _ in executor.events(0):
        pass
    return count
