"""Work that needs no engine: whichever worker is free does it, beside the frames it was made from.

Workers on ``none`` do nothing else, so that processors have work while GPUs render.
"""

from multiprocessing.connection import Connection

from mimegen.rendering.failures import failure
from mimegen.rendering.taking import jobs_from
from mimegen.shots.devices import kind_of_cpu
from mimegen.shots.jobs import JobDone, JobFailed, PlainJob, Ready

NONE = "none"
"""What workers render on that do plain jobs alone."""


def serve(connection: Connection) -> None:
    """Do plain jobs until the main process closes the connection (EOFError)."""
    connection.send(Ready(NONE, 1, "", kind_of_cpu()))
    job: PlainJob
    for job in jobs_from(connection):
        answer: JobDone | JobFailed = JobDone()
        try:
            job.run()
        except Exception as problem:
            answer = failure(job, problem)
        connection.send(answer)
