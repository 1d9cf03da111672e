"""Jobs that need no rendering engine, such as composing clips; any free worker can do them.

Workers on the device ``none`` do only these jobs and keep the CPU busy while GPUs render.
"""

from multiprocessing.connection import Connection

from mimegen.rendering.failures import failure
from mimegen.rendering.receiving import jobs_from
from mimegen.shots.devices import kind_of_cpu
from mimegen.shots.jobs import JobDone, JobFailed, PlainJob, Ready

NONE = "none"
"""The device name of workers that do plain jobs only."""


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
