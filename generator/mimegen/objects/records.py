"""Lists of records that become data frames."""

from typing import TYPE_CHECKING, Any, TypeVar

from mimegen.base.counted import counted

if TYPE_CHECKING:
    import pandas

Record = TypeVar("Record")
# How many names a one-line description has.
FEW = 3


class Records(list[Record]):
    """A list of named tuples that a notebook shows as a table."""

    def frame(self) -> "pandas.DataFrame":
        """Return the records as a DataFrame with one row per record."""
        return data_frame(self)

    def __repr__(self) -> str:
        """Return how many there are of what, and the first ones' names."""
        kind = type(self[0]).__name__.removesuffix("Record").lower() if self else "record"
        names = ", ".join(str(next(iter(one))) for one in self[:FEW])  # type: ignore[call-overload]
        more = ", …" if len(self) > FEW else ""
        return f"<{counted(len(self), kind)}: {names}{more}; .frame() is a table of all>"

    def _repr_html_(self) -> str:
        return html_table(self.frame())


# Importing pandas takes half a second, which only those who want a table should wait for.
def data_frame(content: Any) -> "pandas.DataFrame":
    """Return named tuples or dictionaries as a DataFrame."""
    import pandas

    return pandas.DataFrame(list(content))


def html_table(frame: "pandas.DataFrame") -> str:
    """Return a DataFrame as the HTML that notebooks show; names from files are escaped."""
    return str(frame.to_html(max_rows=30, escape=True))
