"""The answer of a worker to a job that failed, whichever engine it uses."""

from mimegen.base.errors import RequestError, means_full_disk
from mimegen.scenery.job import SetJob
from mimegen.shots.jobs import JobFailed, PlainJob, ShotJob
from mimegen.shots.publishing import ShotError


def failure(job: ShotJob | SetJob | PlainJob, problem: Exception) -> JobFailed:
    """Return the answer to a job that ended in an error.

    Messages of ShotError and RequestError name the place themselves; to others the job's folder or
    target is added.
    """
    why = str(problem)
    if not isinstance(problem, ShotError | RequestError):
        what = job.folders[0] if isinstance(job, ShotJob) else job.target
        why = f"{what}: {type(problem).__name__}: {problem}"
    return JobFailed(why, means_full_disk(problem))
