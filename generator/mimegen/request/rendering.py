"""Carry out a request: make its clips, manifest, ground truth and gallery."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

from mimegen.base.counted import counted
from mimegen.base.paths import using_libraries
from mimegen.farm.executor import Farm
from mimegen.farm.settings import FarmSettings
from mimegen.manifest.file import MANIFEST
from mimegen.pages.gallery import write_gallery
from mimegen.production.eventgraphs import write_event_graphs
from mimegen.production.passes import make_passes
from mimegen.production.progress import Reporter
from mimegen.production.render import render
from mimegen.request.farms import farm_of
from mimegen.request.planned import Planned
from mimegen.request.render_request import RenderRequest
from mimegen.store.store import Store

Failures: TypeAlias = dict[str, str]
"""The reason of each failure, by the clip's descriptive sample_id."""


def rendered(request: RenderRequest, out: Path, store_folder: Path, settings: FarmSettings,
             opaque: bool, quiet: bool) -> Failures:
    """Render a request to ``out``; return the clips that failed with the reasons.

    Raises RequestError for unknown names, and if rendering cannot continue.
    """
    say: Callable[[str], None] = (lambda text: None) if quiet else partial(print, flush=True)
    with using_libraries(request.library):
        planned = Planned.of(request, settings, say)
        store = Store(store_folder.resolve())
        farm = farm_of(settings, planned.device, store, out, say)
        with Reporter(len(planned.plan), quiet) as reporter:
            return carry_out(planned, out, store, farm, reporter, opaque)


def carry_out(planned: Planned, out: Path, store: Store, farm: Farm, reporter: Reporter,
              opaque: bool) -> Failures:
    """Make the clips, ground truth and pages of a planned request; return the clips that failed.

    The pages are also updated after an interrupt, for the clips that exist by then.
    """
    plan, passes = planned.plan, planned.passes
    try:
        failures = render(plan, store, out, farm, reporter, opaque)
        if passes is not None:
            if plan.displays:
                reporter.say(f"{counted(plan.displays, 'point-light clip')} without ground truth:"
                             " they show dots of the motion itself")
            failures |= make_passes(plan, passes, store, out, farm, reporter)
    except KeyboardInterrupt:
        _renew_pages(out, planned.staged)
        raise
    _renew_pages(out, planned.staged)
    return failures


def _renew_pages(out: Path, staged: bool) -> None:
    if (out / MANIFEST).exists():
        if staged:
            write_event_graphs(out)
        write_gallery(out)
