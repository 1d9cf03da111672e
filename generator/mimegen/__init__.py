"""mimegen: controlled video stimuli of human action."""

import sys

__version__ = "0.1.0"

if sys.version_info[:2] not in ((3, 11), (3, 13)):
    raise ImportError("mimegen needs Python 3.11 or 3.13, for Blender has wheels for no other;"
                      f" this is {sys.version.split()[0]}")
