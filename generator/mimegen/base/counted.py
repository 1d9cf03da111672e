"""Counts with a noun in the singular or plural."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number and its noun, such as "1 clip" or "2 clips"; the default plural adds an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"
