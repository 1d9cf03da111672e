"""Run a module within limits: ``python -m mimegen.readers.limited GIB SECONDS MODULE ...``."""

import resource
import runpy
import sys


def main(gibibytes: float, seconds: int, module: str, arguments: list[str]) -> None:
    """Run ``module`` as a program that can hold no more data than that, nor compute longer."""
    most = int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
