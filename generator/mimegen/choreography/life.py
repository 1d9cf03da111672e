"""The small movements of somebody alive: breathing, sway, drift of the hands."""

import zlib

import numpy as np

from mimegen.motion.quaternions import FloatArray


def small_movements(name: str, seed: int, moments: FloatArray) -> dict[str, FloatArray]:
    """Return by track what is added to it; degrees for turns, metres for places, (F, channels)."""
    rng = np.random.default_rng([seed, zlib.crc32(f"life of {name}".encode())])
    breath = np.sin(2 * np.pi * (0.27 * moments + rng.uniform()))[:, None]
    return {
        "chest": _drift(rng, moments, 3) * [0.7, 0.5, 0.5] - breath * [0, 0.9, 0],
        "head": _drift(rng, moments, 3) * [1.2, 0.8, 0.8] + breath * [0, 0.5, 0],
        "shoulders": breath * [1.3, -0.6],
        "sway": _drift(rng, moments, 3) * [0.005, 0.004, 0.001],
        "Left hand": _drift(rng, moments, 3) * 0.003,
        "Right hand": _drift(rng, moments, 3) * 0.003,
    }


def _drift(rng: np.random.Generator, moments: FloatArray, channels: int) -> FloatArray:
    """Return slow smooth noise (F, channels) of about unit size."""
    rates = rng.uniform(0.12, 0.75, (4, 1, channels))
    phases = rng.uniform(0, 2 * np.pi, (4, 1, channels))
    waves = np.sin(2 * np.pi * rates * moments[None, :, None] + phases)
    return np.asarray(waves.mean(axis=0) * 1.4)
