"""Choosing device and render config by the hardware found, without loading Blender here."""

from mimegen.errors import RequestError
from mimegen.stage.worker import JobFailed, StageWorker


def choose_device(wanted: str = "auto") -> str:
    """Return the kind of device (optix, cuda, hip, oneapi, metal or cpu) to render on.

    A short-lived Blender process looks what there is; a CPU is always there.

    Raises RequestError where Blender does not start or the wanted kind is not on this machine.
    """
    if wanted.lower() == "cpu":
        return "cpu"
    worker = StageWorker(wanted)
    try:
        answer = worker.connection.recv()
    except EOFError:
        raise RequestError(
            "Blender does not start; see the README for the system libraries it needs"
        ) from None
    finally:
        worker.kill()
    if isinstance(answer, JobFailed):
        raise RequestError(answer.message)
    return str(answer.device)


def auto_config(device: str) -> str:
    """Return the render config that suits a device: ``standard`` on a GPU, else ``preview``."""
    return "preview" if device == "cpu" else "standard"
