"""mimegen: controlled video stimuli of human action."""

__version__ = "0.1.0"
