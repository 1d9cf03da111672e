"""How many there are, in words that fit one as well as many."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number and its noun, as in "1 clip" and "2 clips"; many adds an s by default."""
    return f"{number} {one if number == 1 else many or one + 's'}"
