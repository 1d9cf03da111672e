"""How a worker takes jobs: it says so at once, so that a death before that is no job's doing.

Apart from the jobs themselves, for this is no part of what frames depend on.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any


@dataclass(frozen=True)
class JobTaken:
    """The worker has the job: what becomes of it from now on is the job's own doing."""


def jobs_from(connection: Connection) -> Iterator[Any]:
    """Yield the jobs that a main process sends, each once it was told that it is taken.

    Raises EOFError or ConnectionError when the main process has closed the connection.
    """
    while True:
        job = connection.recv()
        connection.send(JobTaken())
        yield job
