"""Methods that see the library folders with which their object was made."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from mimegen.base.paths import using_libraries

Method = TypeVar("Method", bound=Callable[..., Any])


def within_libraries(method: Method) -> Method:
    """Let a method of an object with a ``_catalogue`` read data as that catalogue's libraries do.
    """

    @wraps(method)
    def wrapped(self: Any, *args: Any, **kwargs: Any) -> Any:
        with using_libraries(self._catalogue.libraries):
            return method(self, *args, **kwargs)

    return cast(Method, wrapped)
