"""How many point-light frames a second: mimegen's discs, OpenCV's circles, matplotlib's scatter.

    python benchmarks/pointlight.py [--seconds 2]

Drawing only, no encoding, on one core: 15 dots that move on a 512x512 canvas. What is not installed
is left out, and said. The error is the mean distance of a lone dot's centroid from where it should
be, in pixels, with intensities taken as each program means them.
"""

import argparse
import io
import time
from collections.abc import Callable, Iterator

import numpy as np

from mimegen.pointlight.discs import Canvas, to_linear

SIDE, DOTS, FRAMES = 512, 15, 600
Draw = Callable[[np.ndarray, float], Iterator[np.ndarray]]


def paths(dots: int = DOTS) -> np.ndarray:
    """Return places (FRAMES, dots, 2) of dots that swing."""
    rng = np.random.default_rng(1)
    time_s = np.arange(FRAMES)[:, None, None] / 60
    phase, size = rng.uniform(0, 2 * np.pi, (1, dots, 2)), rng.uniform(0.1, 0.4, (1, dots, 2))
    return SIDE * (0.5 + size * np.sin(2 * np.pi * time_s + phase))


def mimegen(places: np.ndarray, diameter: float, gray: bool = True) -> Iterator[np.ndarray]:
    """Exact area coverage, in linear light."""
    canvas = Canvas(SIDE, SIDE, np.zeros(3), gray)
    count = places.shape[:2]
    return canvas.frames(places, np.full(count, diameter), np.ones(count), np.ones((count[1], 3)))


def mimegen_rgb(places: np.ndarray, diameter: float) -> Iterator[np.ndarray]:
    """The same in color."""
    return mimegen(places, diameter, gray=False)


def opencv(places: np.ndarray, diameter: float) -> Iterator[np.ndarray]:
    """Antialiased circles with ten fractional bits, as a careful script would draw them."""
    import cv2

    cv2.setNumThreads(1)
    for frame in places:
        picture = np.zeros((SIDE, SIDE), np.uint8)
        for x, y in np.round((frame - 0.5) * 1024).astype(int):
            cv2.circle(picture, (int(x), int(y)), round(diameter / 2 * 1024), 255, -1,
                       cv2.LINE_AA, 10)
        yield picture


def matplotlib(places: np.ndarray, diameter: float) -> Iterator[np.ndarray]:
    """One scatter whose offsets move, drawn by Agg and read from its buffer."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(SIDE / 100, SIDE / 100), dpi=100, facecolor="black")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, SIDE), ylim=(SIDE, 0))
    axes.axis("off")
    dots = axes.scatter(*places[0].T, s=(diameter * 0.72) ** 2, c="white", linewidths=0)
    for frame in places:
        dots.set_offsets(frame)
        figure.canvas.draw()
        yield np.asarray(figure.canvas.buffer_rgba())[..., 0]


def pillow(places: np.ndarray, diameter: float) -> Iterator[np.ndarray]:
    """Whole-pixel ellipses without antialiasing, what Pillow offers."""
    from PIL import Image, ImageDraw

    for frame in places:
        picture = Image.new("L", (SIDE, SIDE))
        draw = ImageDraw.Draw(picture)
        for x, y in frame:
            draw.ellipse((x - diameter / 2, y - diameter / 2, x + diameter / 2 - 1,
                          y + diameter / 2 - 1), fill=255)
        yield np.asarray(picture)


def rate(draw: Draw, diameter: float, seconds: float) -> float:
    """Return the frames per second of processor time of the best of several passes."""
    places, best, spent = paths(), 0.0, 0.0
    while spent < seconds:
        started, done = time.process_time(), 0
        for _ in draw(places, diameter):
            done += 1
            if time.process_time() - started > seconds:
                break
        took = time.process_time() - started
        best, spent = max(best, done / took), spent + took
    return best


def centroid_error(draw: Draw, diameter: float, linear: bool) -> float:
    """Return the mean distance of one dot's centroid from its place, in pixels."""
    places = paths(1)[:40]
    middles = []
    for picture in draw(places, diameter):
        light = to_linear(picture) if linear else picture / 255.0
        grid = np.arange(SIDE) + 0.5
        middles.append([(light.sum(axis=axis) * grid).sum() / light.sum() for axis in (0, 1)])
    return float(np.linalg.norm(np.array(middles) - places[:, 0], axis=1).mean())


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2.0)
    seconds = parser.parse_args().seconds
    log = io.StringIO()
    print("| drawn by | 6 px | 10 px | 20 px | centroid error, px |", file=log)
    print("|---|---:|---:|---:|---:|", file=log)
    for name, draw in (("mimegen, gray", mimegen), ("mimegen, RGB", mimegen_rgb),
                       ("OpenCV", opencv), ("Pillow", pillow), ("matplotlib", matplotlib)):
        try:
            rates = [rate(draw, diameter, seconds) for diameter in (6.0, 10.0, 20.0)]
        except ImportError as problem:
            print(f"| {name} | not installed ({problem.name}) | | | |", file=log)
            continue
        error = "" if draw is mimegen_rgb else f"{centroid_error(draw, 10.0, draw is mimegen):.4f}"
        print(f"| {name} | {' | '.join(f'{value:,.0f}' for value in rates)} | {error} |", file=log)
    print(log.getvalue(), end="")


if __name__ == "__main__":
    main()
