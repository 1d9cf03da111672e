"""``python -m mimegen`` is the command ``mimegen``."""

from mimegen.base.early import until_work_begins


def run() -> None:
    """Be the command line; Ctrl-C is heeded before its packages load."""
    until_work_begins()
    from mimegen.cli import main

    main()


if __name__ == "__main__":
    run()
