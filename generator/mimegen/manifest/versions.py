"""Convert manifest rows of older versions to this version."""

from typing import Any

_STYLES = ("dots", "stick", "silhouette")


def upgraded(content: dict[str, Any]) -> dict[str, Any]:
    """Return a row's content in this version's form; rows of this or newer versions stay as is."""
    return _from_first(content) if content.get("row_version", 1) == 1 else content


def _from_first(content: dict[str, Any]) -> dict[str, Any]:
    """Convert a row of version 1, which had no number and used ``config_name`` for the config."""
    row = {name: value for name, value in content.items() if name != "row_version"}
    row["render_config_name"] = row.pop("config_name", None)
    row.setdefault("avatar", None)
    row.setdefault("type", "pointlight" if "dot_count" in row else "MIME")
    if "dot_count" in row and row.get("style") in _STYLES:
        row["display_style"] = row.pop("style")
    return row
