"""mimegen: controlled video stimuli of human action.

``import mimegen as mg`` gives the functions and classes of ``mimegen.api``, which are loaded when
they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mimegen.api import *  # noqa: F403


# Worker processes and quick commands import the package without waiting for the API. Its whole name
# as a text would make it part of the key of all code that reads the version (see ``code_key``).
def __getattr__(name: str) -> Any:
    api = import_module(f"{__name__}.api")
    if name in api.__all__:
        return getattr(api, name)
    raise AttributeError(f"module 'mimegen' has no attribute {name!r}")


def __dir__() -> list[str]:
    own = {name for name in globals() if name.startswith("__")}
    return sorted({*own, *import_module(f"{__name__}.api").__all__})
