"""A user's request: one typed model shared by the commands, plan files and the Python API."""

from mimegen.request.planned import Planned
from mimegen.request.render_request import RenderRequest

__all__ = ["Planned", "RenderRequest"]
