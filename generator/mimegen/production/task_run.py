"""The state that every run of tasks shares: store, output folder, reporter and logs."""

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from mimegen.farm.executor import Heard
from mimegen.farm.logs import Logs
from mimegen.farm.task import Task
from mimegen.production.journal import Journal
from mimegen.production.progress import Reporter
from mimegen.production.sizes import Sizes
from mimegen.store.store import Store


@dataclass(eq=False)
class TaskRun:
    """A run of tasks into ``out``; ``further`` are tasks that follow from finished ones."""

    store: Store
    out: Path
    reporter: Reporter
    journal: Journal
    logs: Logs
    sizes: Sizes
    further: deque[Task] = field(default_factory=deque, kw_only=True)

    def hear(self, heard: Heard) -> None:
        """Log a worker's message and measure the sizes that it reports."""
        self.logs.hear(heard)
        self.sizes.hear(heard)
