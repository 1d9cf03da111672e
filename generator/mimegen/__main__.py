"""``python -m mimegen`` is the command ``mimegen``."""

from mimegen.cli import main

if __name__ == "__main__":
    main()
