"""Choose windows of consecutive frames from the middle of a clip, as ActPLD does."""

from mimegen.base.errors import RequestError
from mimegen.pointlight.spec import FrameSample


def sample_windows(sample: FrameSample, frames: int) -> list[list[int]]:
    """Return the frame numbers of the first window and of its retries.

    ActPLD (2.4): a fraction of the frames is cut off at both ends, consecutive frames are taken
    from the middle of the rest, and a retry's window is shifted earlier or later. The paper does
    not state how far. Here it is the window's own length, earlier first, and limited to the rest.
    Raises RequestError if the rest is too short.
    """
    first = int(frames * sample.trim)
    last = frames - first
    if last - first < sample.frames:
        raise RequestError(f"display: {frames} frames are too few for {sample.frames} consecutive"
                           f" ones after cutting {sample.trim:.0%} off both ends")
    middle = first + (last - first - sample.frames) // 2
    starts = [middle]
    for retry in range(1, sample.retries + 1):
        shift = (retry + 1) // 2 * sample.frames
        start = middle - shift if retry % 2 else middle + shift
        starts.append(min(max(start, first), last - sample.frames))
    return [list(range(start, start + sample.frames)) for start in starts]
