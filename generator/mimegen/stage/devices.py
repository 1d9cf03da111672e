"""Which device Cycles renders on: the choice itself, without Blender."""

from collections.abc import Mapping

from mimegen.errors import RequestError

DEVICE_KINDS = ("optix", "cuda", "hip", "oneapi", "metal", "cpu")
"""Best first."""


def best_device(found: Mapping[str, list[str]], wanted: str) -> str:
    """Return the kind of device to render on.

    ``found`` holds the names of the devices of each kind on this machine; a CPU is always there.
    ``wanted`` is ``auto`` or a kind in any case.

    Raises RequestError where the wanted kind does not exist or is not on this machine.
    """
    there = [kind for kind in DEVICE_KINDS if kind == "cpu" or found.get(kind)]
    if wanted.lower() == "auto":
        return there[0]
    if wanted.lower() in there:
        return wanted.lower()
    raise RequestError(
        f"--device {wanted}: not on this machine (there is: {', '.join(['auto', *there])})"
    )
