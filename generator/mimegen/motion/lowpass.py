"""A low-pass filter that continues a movement beyond the ends of its take."""

import numpy as np
import scipy

from mimegen.motion.quaternions import FloatArray

# A Gaussian is cut off beyond this many standard deviations.
REACH = 4.0


def low_passed(values: FloatArray, deviation: float) -> FloatArray:
    """Return values (F, ...) under a Gaussian of ``deviation`` frames, with trends kept at ends.

    Before its first and after its last frame a take is continued by point reflection through that
    frame. If it were held still there instead, a limb cut off in mid-swing would brake.
    """
    beyond = min(int(np.ceil(REACH * deviation)), len(values) - 1)
    if beyond < 1:
        return values
    width = [(beyond, beyond), *[(0, 0)] * (values.ndim - 1)]
    # An odd reflection keeps value and slope at the ends; an even one would keep the value alone.
    padded = np.pad(values, width, mode="reflect", reflect_type="odd")
    smooth = scipy.ndimage.gaussian_filter1d(padded, deviation, axis=0, mode="nearest",
                                             truncate=REACH)
    return np.asarray(smooth[beyond:-beyond])
