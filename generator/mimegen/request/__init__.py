"""What a user asks for: one typed request that commands, plan files and the Python API share."""

from mimegen.request.planned import Planned
from mimegen.request.render_request import RenderRequest

__all__ = ["Planned", "RenderRequest"]
