"""The least that a set has to have."""


MINIMAL = {
    "sky": {"zenith": "#ffffff", "horizon": "#ffffff", "ground": "#808080", "strength": 1},
    "sun": {"strength": 1},
    "materials": {"red": {"color": "#ff0000"}},
}
