"""Run a Python file with limited memory and time: ``limited.py GIB SECONDS FILE ...``.

Blender, or a Python that has bpy, runs this as a file, so it imports nothing from mimegen.
"""

import resource
import runpy
import sys


def main(gibibytes: float, seconds: int, file: str, arguments: list[str]) -> None:
    """Run ``file`` with at most ``gibibytes`` of data and ``seconds`` of processor time."""
    most = int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    sys.argv = [file, *arguments]
    runpy.run_path(file, run_name="__main__")


if __name__ == "__main__":
    # Blender puts its own arguments before "--".
    given = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    main(float(given[0]), int(given[1]), given[2], given[3:])
