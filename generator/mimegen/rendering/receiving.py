"""How a worker receives jobs: it confirms each at once with JobReceived.

A worker that dies before the confirmation cannot have died of the job. This module is separate
from the jobs' own because frames do not depend on it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any


@dataclass(frozen=True)
class JobReceived:
    """The worker has received the job; if the worker dies from now on, the job may be the cause."""


def jobs_from(connection: Connection) -> Iterator[Any]:
    """Yield the jobs that the main process sends, after confirming each with JobReceived.

    Raises EOFError or ConnectionError once the main process has closed the connection.
    """
    while True:
        job = connection.recv()
        connection.send(JobReceived())
        yield job
