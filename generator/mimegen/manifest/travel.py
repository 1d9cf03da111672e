"""How distances on characters of another size than the recorded people are put into words."""

# Factors this near to 1 are not worth a word.
ALIKE = 0.01


def is_scaled(scale: float | None) -> bool:
    """Return whether ``travel_scale`` of a row makes distances differ from the recording's."""
    return scale is not None and abs(scale - 1.0) > ALIKE


def scaled_quantities(retimed: bool) -> str:
    """Return what ``travel_scale`` applies to; at another tempo, speeds have another factor."""
    return "distances" if retimed else "distances and speeds"


def scaled_words(scale: float) -> str:
    """Return what distances on a character are, compared with the recording, and why."""
    return (f"{scale:.3f} times those of the recording, because the character's legs are"
            f" {'longer' if scale > 1.0 else 'shorter'}")
