"""A plan left to an executor: its tasks are handed out, and nobody waits for them."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from mimegen.farm.executor import Executor
from mimegen.farm.task import Task
from mimegen.plan.plan import CastingPlan, Plan
from mimegen.production.clipfolder import ClipFolder
from mimegen.production.render import finished_row, prepare_folders
from mimegen.production.tasks import CastingFailed, Work, casting_tasks
from mimegen.store.store import Store


def hand_over(plan: Plan, store: Store, out: Path, executor: Executor, opaque: bool,
              say: Callable[[str], None]) -> int:
    """Submit what is left of a plan, but for what the executor has already; return how much.

    Raises RequestError as ``render`` does.
    """
    prepare_folders(plan, store, out)
    folder = ClipFolder.of(out, opaque)
    stills: set[str] = set()
    submitted = len(executor.adopted)
    for part in plan.castings():
        clips = tuple(clip for clip in part.clips if finished_row(clip, store, folder) is None)
        if clips:
            submitted += _submit(replace(part, clips=clips, displays=()), store, executor, stills,
                                 say)
    return submitted


def _submit(part: CastingPlan, store: Store, executor: Executor, stills: set[str],
            say: Callable[[str], None]) -> int:
    count = 0
    for work in casting_tasks(part, store, stills):
        if isinstance(work, CastingFailed):
            say(work.why)
        rest = _rest(work, executor)
        if rest is not None:
            executor.submit(rest)
            count += 1
    # Jobs come to the first tasks while others are still drawn.
    for _ in executor.events(0):
        pass
    return count


def _rest(work: Work, executor: Executor) -> Task | None:
    return work.without(executor.adopted) if isinstance(work, Task) else None
