"""Run a module with limited memory: ``python -m mimegen.readers.limited GIB MODULE ARGUMENTS``."""

import resource
import runpy
import sys


def main(gibibytes: float, module: str, arguments: list[str]) -> None:
    """Run ``module`` as a program that can hold no more data than that."""
    most = int(gibibytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2], sys.argv[3:])
