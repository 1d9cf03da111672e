"""The jobs that are using a store, and the pieces that each of them is making.

``running/`` has a file for each running job: its name contains host and process, its modification
time is the last heartbeat. ``claims/<key>`` names the job that makes a piece; claims of dead jobs
count as free.
"""

import json
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from mimegen.base.files import clock_of, publish, sweep
from mimegen.base.locks import locked
from mimegen.base.owners import is_unfinished, owner_lives, this_host, unfinished_name
from mimegen.store.store import RUNNING, Store

CLAIMS = "claims"
SIGN_OF_LIFE_S = 5.0  # seconds between two heartbeats
# Missed heartbeats after which a job counts as dead.
MISSED = 12


class Registration:
    """A job's registration with a store; ``sign`` must be called every few seconds."""

    def __init__(self, store: Store, out: Path) -> None:
        """Register a job that writes to the folder ``out``; from now on the store is not pruned.

        Raises RequestError if the store cannot be written.
        """
        self._store = store
        self._running, self._claims = store.root / RUNNING, store.root / CLAIMS
        self._held: set[str] = set()
        sweep(self._running)
        self._marker = self._running / unfinished_name("job")
        with locked(self._running):
            publish(self._marker, json.dumps({"out": str(out.resolve()), "host": this_host(),
                                              "pid": os.getpid(), "since": time.time()}))

    def sign(self) -> None:
        """Send a heartbeat."""
        with suppress(OSError):
            self._marker.touch()

    def store_is_there(self) -> bool:
        """Return whether the store is available, not an empty folder in its place."""
        return self._store.is_in_use

    def claim(self, keys: Iterable[str]) -> set[str]:
        """Claim pieces; return those that this job holds, and not another live job."""
        wanted = list(keys)
        new = [key for key in wanted if key not in self._held and self._is_free(key)]
        if new:
            with locked(self._claims):
                for key in filter(self._is_free, new):
                    publish(self._claims / key, self._marker.name)
                    self._held.add(key)
        return self._held.intersection(wanted)

    def release(self, key: str) -> None:
        """Give up a claim if this job holds it."""
        if key in self._held:
            self._held.remove(key)
            with locked(self._claims):
                if _text(self._claims / key) == self._marker.name:
                    (self._claims / key).unlink(missing_ok=True)

    def end(self) -> None:
        """Give up all claims and unregister; if the store is gone, this is left to others."""
        if not self.store_is_there():
            return
        for key in sorted(self._held):
            self.release(key)
        self._marker.unlink(missing_ok=True)

    def _is_free(self, key: str) -> bool:
        owner = _text(self._claims / key)
        return owner is None or not _lives(self._running / owner)


def running_jobs(store: Store) -> list[dict[str, Any]]:
    """Return the jobs that are using a store: ``host``, ``pid``, ``out`` and ``since`` of each.

    Entries of dead processes are removed: at once on this machine, for other machines after a day.
    """
    folder = store.root / RUNNING
    if not folder.is_dir():
        return []
    sweep(folder)
    markers = [path for path in sorted(folder.glob(".job.*"))
               # Markers of earlier versions had other names, which ``sweep`` does not recognise.
               if is_unfinished(path.name) or _lives(path)]
    # A job that ends at this moment has removed its marker.
    return [json.loads(text) for text in map(_text, markers) if text is not None]


def _lives(marker: Path) -> bool:
    """Return whether a marker's job is alive: by its process here, elsewhere by its heartbeat."""
    if owner_lives(marker.name) is False:
        return False
    try:
        silence = clock_of(marker.parent) - marker.stat().st_mtime
    except FileNotFoundError:
        return False
    return silence < MISSED * SIGN_OF_LIFE_S


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
