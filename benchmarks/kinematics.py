"""What tells people's movement from a puppet's, in numbers.

Speeds and jerks are measured on points smoothed alike (`smoothed`), for they weigh noise heavily.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.signal import butter, detrend, find_peaks, sosfiltfilt

from mimegen.motion.quaternions import FloatArray

CUTOFF_HZ = 8.0
# What counts as a movement: its peak speed (m/s), and the share of it that lies above the slower
# moments around it.
LEAST_PEAK, LEAST_PROMINENCE = 0.3, 0.5
# Small peaks within movements: at least this share of the clip's fast speed.
SUBMOVEMENT_SHARE = 0.05
SPARC_CUTOFF_HZ, SPARC_FLOOR, SPARC_PADDING = 10.0, 0.05, 4


def smoothed(points: FloatArray, fps: float, cutoff: float = CUTOFF_HZ) -> FloatArray:
    """Return points (F, ...) without what is faster than ``cutoff`` Hz.

    A Butterworth filter of second order, forth and back so that nothing is delayed (Winter,
    "Biomechanics and Motor Control of Human Movement", 4th edition, 2009, section 3.4.4). Clips
    too short to filter, or without such frequencies, are returned as they are.
    """
    if len(points) < 10 or fps <= 2 * cutoff:
        return points
    return np.asarray(sosfiltfilt(butter(2, cutoff, fs=fps, output="sos"), points, axis=0))


def speeds(points: FloatArray, fps: float) -> FloatArray:
    """Return speeds (F, ...) in m/s of points (F, ..., 3)."""
    if len(points) < 2:
        return np.zeros(points.shape[:-1])
    return np.asarray(np.linalg.norm(np.gradient(points, axis=0), axis=-1) * fps)


def log_dimensionless_jerk(points: FloatArray, fps: float) -> float:
    """Return the log dimensionless jerk of one movement's points (F, 3): the higher, the smoother.

    -ln(T^3 / v_peak^2 * integral of |jerk|^2 dt), of Hogan and Sternad, "Sensitivity of Smoothness
    Measures to Movement Duration, Amplitude, and Arrests" (2009), with the logarithm of
    Balasubramanian, Melendez-Calderon and Burdet (2012). Neither size nor tempo changes it: a
    minimum-jerk reach has -ln(204.8) = -5.32. NaN for what does not move.
    """
    peak = float(speeds(points, fps).max(initial=0.0))
    if len(points) < 5 or peak <= 0.0:
        return float("nan")
    jerk = np.diff(points, n=3, axis=0) * fps**3
    # Three differences leave out the ends of the movement.
    total = float(np.mean(np.sum(jerk**2, axis=-1))) * (len(points) - 1) / fps
    duration = (len(points) - 1) / fps
    return -float(np.log(max(duration**3 / peak**2 * total, 1e-12)))


def spectral_arc_length(speed: FloatArray, fps: float) -> float:
    """Return SPARC of one movement's speed (F,): the nearer to 0, the smoother.

    The length of the curve of the normalised Fourier magnitude up to 10 Hz, or to where it stays
    below 0.05 (Balasubramanian, Melendez-Calderon, Roby-Brami and Burdet, "On the analysis of
    movement smoothness", 2015). NaN for what does not move.
    """
    if len(speed) < 2 or speed.max() <= 0.0:
        return float("nan")
    count = 2 ** (int(np.ceil(np.log2(len(speed)))) + SPARC_PADDING)
    magnitude = np.abs(np.fft.rfft(speed, count))
    magnitude /= magnitude[0]
    frequencies = np.fft.rfftfreq(count, 1 / fps)
    used = np.flatnonzero((frequencies <= SPARC_CUTOFF_HZ) & (magnitude >= SPARC_FLOOR))[-1] + 1
    if used < 2:
        return float("nan")
    steps = np.diff(frequencies[:used]) / (frequencies[used - 1] - frequencies[0])
    return -float(np.hypot(steps, np.diff(magnitude[:used])).sum())


def movements(speed: FloatArray) -> list[slice]:
    """Return the single movements in a speed (F,): from one deep minimum to the next.

    A movement peaks above ``LEAST_PEAK`` m/s and stands out from the minima beside it by half of
    its peak. What begins before the clip or ends after it is left out.
    """
    peaks, facts = find_peaks(speed, height=LEAST_PEAK, prominence=0.0)
    peaks = peaks[facts["prominences"] >= LEAST_PROMINENCE * facts["peak_heights"]]
    edges = [0, *(int(peak) for peak in peaks), len(speed) - 1]
    minima = [first + int(np.argmin(speed[first : last + 1])) for first, last in pairwise(edges)]
    return [slice(first, last + 1)
            for (first, last), peak in zip(pairwise(minima), peaks, strict=True)
            if max(speed[first], speed[last]) <= (1 - LEAST_PROMINENCE) * speed[peak]]


class Profile(NamedTuple):
    """A movement's speed over time.

    ``peak_ratio`` is peak by mean (1.875 for minimum jerk); ``skewness`` the third moment of the
    speed over time, above 0 for what sets off fast and slows down slowly; ``bell`` its correlation
    with a minimum-jerk bell of the same duration.
    """

    peak_ratio: float
    skewness: float
    bell: float


def profile(speed: FloatArray) -> Profile:
    """Return the shape of a movement's speed (F,).

    The bell is that of Flash and Hogan, "The Coordination of Arm Movements" (1985); people's
    profiles are skewed by speed and accuracy (Nagasaki, "Asymmetric velocity and acceleration
    profiles of human arm movements", 1989).
    """
    time = np.linspace(0.0, 1.0, len(speed))
    share = np.asarray(speed / max(float(speed.sum()), 1e-12))
    middle = float(share @ time)
    spread = float(np.sqrt(max(float(share @ (time - middle) ** 2), 1e-12)))
    bell = np.asarray((time * (1 - time)) ** 2, dtype=float)
    return Profile(float(speed.max() / max(speed.mean(), 1e-12)),
                   float(share @ (time - middle) ** 3) / spread**3, correlation(speed, bell))


def submovements(speed: FloatArray) -> int:
    """Return how many peaks a speed (F,) has, those within larger movements too.

    Peaks of at least 5 % of its 95th percentile count, as overlapping submovements leave them
    (Rohrer et al., "Movement Smoothness Changes during Stroke Recovery", 2002).
    """
    least = max(SUBMOVEMENT_SHARE * float(np.percentile(speed, 95)), 1e-3)
    return len(find_peaks(speed, prominence=least)[0])


def correlation(first: FloatArray, second: FloatArray) -> float:
    """Return Pearson's correlation of two signals (F,); 0 where one of them is constant."""
    a, b = first - first.mean(), second - second.mean()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 1e-12 else 0.0


def sway_frequency(path: FloatArray, fps: float) -> float:
    """Return the centroidal frequency (Hz) of a path's (F, K) velocity, 0.15 to 10 Hz.

    After Prieto et al., "Measures of Postural Steadiness" (1996), whose power is of places; that of
    velocities weighs the rhythm more than where the person has got to. 0 for what does not move.
    """
    frequencies, power = _power(np.gradient(path, axis=0) * fps, fps)
    band = (frequencies >= 0.15) & (frequencies <= 10.0)
    total = float(power[band].sum())
    if total < 1e-12:
        return 0.0
    return float(np.sqrt((power[band] * frequencies[band] ** 2).sum() / total))


def band_speed(path: FloatArray, fps: float, low: float, high: float) -> float:
    """Return the root mean square speed (m/s) of a path (F, K) between two frequencies (Hz)."""
    frequencies, power = _power(np.gradient(path, axis=0) * fps, fps)
    return float(np.sqrt(power[(frequencies >= low) & (frequencies < high)].sum()))


def _power(signal: FloatArray, fps: float) -> tuple[FloatArray, FloatArray]:
    """Return frequencies and power of a signal (F, K) without its trend; the power adds up to
    the mean square."""
    window = np.hanning(len(signal))[:, None]
    spectrum = np.fft.rfft(detrend(signal, axis=0) * window, axis=0)
    power = 2 * np.sum(np.abs(spectrum) ** 2, axis=1) / (len(signal) * np.sum(window**2))
    return np.fft.rfftfreq(len(signal), 1 / fps), np.asarray(power)


def still_share(speed: FloatArray, limit: float) -> float:
    """Return the share of frames in which all of the speeds (F, K) are below ``limit`` m/s."""
    return float(np.mean((speed < limit).all(axis=1)))


def togetherness(speed: FloatArray) -> float:
    """Return how alike parts' speeds (F, K) rise and fall: their mean correlation, pair by pair.

    Parts of people lead and lag one another, the trunk the arm and the arm the hand (Putnam,
    "Sequential motions of body segments in striking and throwing skills", 1993).
    """
    first, second = np.triu_indices(speed.shape[1], 1)
    return float(np.mean([correlation(speed[:, a], speed[:, b])
                          for a, b in zip(first, second, strict=True)]))
