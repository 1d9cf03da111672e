"""Run a program within limits: ``limited.py GIB SECONDS FILE ...``, in any Python.

Run as a file by Blender's program or a Python that has bpy, so it imports nothing of mimegen's.
"""

import resource
import runpy
import sys


def main(gibibytes: float, seconds: int, file: str, arguments: list[str]) -> None:
    """Run ``file`` as a program that can hold no more data than that, nor compute longer."""
    most = int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    sys.argv = [file, *arguments]
    runpy.run_path(file, run_name="__main__")


if __name__ == "__main__":
    # Blender's program has its own arguments before "--".
    given = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else sys.argv[1:]
    main(float(given[0]), int(given[1]), given[2], given[3:])
