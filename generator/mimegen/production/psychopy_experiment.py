"""A small experiment with this folder's point-light displays, for PsychoPy.

    python experiment.py                        # asks for the first factor that varies
    python experiment.py --factor direction --participant p01 --repeats 4

Needs PsychoPy and NumPy, and this folder as it was written: ``trials.csv`` lists the displays, and
the CSV file of each has its dots. Every display is shown ``--repeats`` times, in an order drawn by
``--seed`` and the participant; then people press the number of the value that they saw. Answers are
written to ``answers_PARTICIPANT.csv`` after every trial; a file that is there is never replaced.
Escape ends the experiment.
"""

import argparse
import csv
import random
from pathlib import Path
from typing import Any

import numpy as np

FIXATION_S = 0.5  # seconds that the cross is shown before each display
# Columns of trials.csv that describe a display; all others are factors.
DESCRIBES = ("file", "action", "take", "seed", "azimuth_deg", "view_azimuth_deg",
             "figure_height_px", "dots_seed", "duration_s", "fps", "frames", "labels",
             "display_style", "background_color", "shown_height_px", "shown_height_deg",
             "dot_count", "dot_diameter_px", "dot_diameter_deg", "dots_shown_least",
             "dots_shown_mean", "dots_outside_share", "manipulations")
# Values are chosen with the keys 1 to 9.
MAX_VALUES = 9
ANSWERS = ("trial", "file", "factor", "shown", "answer", "right", "seconds")
Trial = dict[str, str]


def read_trials(folder: Path) -> list[Trial]:
    """Return the rows of trials.csv."""
    with (folder / "trials.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def factor_of(trials: list[Trial], asked: str | None) -> tuple[str, list[str]]:
    """Return the factor to ask about (by default the first that varies) and its values."""
    factors = [name for name in trials[0] if name not in (*DESCRIBES, "condition")]
    names = [asked] if asked else [*factors, "condition"]
    if asked and asked not in trials[0]:
        raise SystemExit(f"trials.csv: no column '{asked}'; it has {', '.join(trials[0])}")
    for name in names:
        values = list(dict.fromkeys(trial[name] for trial in trials))
        if 1 < len(values) <= MAX_VALUES:
            return name, values
    raise SystemExit(f"trials.csv: no factor has 2 to {MAX_VALUES} values; make the set with"
                     " --grid, as in --grid 'direction=-90,90', or name another --factor")


def order_of(trials: list[Trial], repeats: int, seed: str) -> list[Trial]:
    """Return the trials in the order for one participant, with each trial ``repeats`` times."""
    drawn = random.Random(seed)
    return [trial for _ in range(repeats) for trial in drawn.sample(trials, len(trials))]


def read_dots(file: Path, pixels_per_degree: float | None) -> list[np.ndarray[Any, Any]]:
    """Return each frame's visible dots (N, 7): x, y and diameter in pixels, opacity, and color.

    ``pixels_per_degree`` is the screen's; None for the screen that the display was made for. The
    origin is the centre of the picture; Y points up. Colors are PsychoPy's, from -1 to 1.
    """
    with file.open(newline="", encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    degree = pixels_per_degree or float(rows[0]["diameter_px"]) / float(rows[0]["diameter_deg"])
    count = 1 + max(int(row["frame"]) for row in rows)
    frames: list[list[list[float]]] = [[] for _ in range(count)]
    for row in rows:
        if row["visible"] == "1":
            frames[int(row["frame"])].append([
                float(row["x_deg"]) * degree, float(row["y_deg"]) * degree,
                float(row["diameter_deg"]) * degree, float(row["strength"]),
                *color_of(row["color"])])
    return [np.array(frame, float).reshape(-1, 7) for frame in frames]


def color_of(text: str) -> list[float]:
    """Return a color such as #ff8000 as PsychoPy's red, green and blue, from -1 to 1."""
    return [int(text[place:place + 2], 16) / 127.5 - 1 for place in (1, 3, 5)]


def refuse_other_styles(trials: list[Trial]) -> None:
    """Stop before an experiment whose displays are more than the dots that it can draw."""
    for trial in trials:
        if trial["display_style"] != "dots":
            raise SystemExit(f"{trial['file']}: is drawn as a {trial['display_style']}, and this"
                             " experiment draws dots; show the videos instead")


def ink_on(background: Any) -> list[float]:
    """Return the color, black or white, of text on a background."""
    return [-1.0] * 3 if float(np.mean(background)) > 0 else [1.0] * 3


def show(window: Any, dots: list[np.ndarray[Any, Any]], fps: float) -> None:
    """Show a display once, each frame at its own time regardless of the screen's refresh rate."""
    from psychopy import core, visual

    most = max(len(frame) for frame in dots)
    stimulus = visual.ElementArrayStim(window, units="pix", nElements=max(most, 1),
                                       elementTex=None, elementMask="circle")
    clock = core.Clock()
    while (frame := int(clock.getTime() * fps)) < len(dots):
        seen = dots[frame]
        places, sizes, strengths = np.zeros((most, 2)), np.ones(most), np.zeros(most)
        colors = np.zeros((most, 3))
        places[:len(seen)], sizes[:len(seen)] = seen[:, :2], seen[:, 2]
        strengths[:len(seen)], colors[:len(seen)] = seen[:, 3], seen[:, 4:]
        stimulus.xys, stimulus.sizes, stimulus.opacities = places, sizes, strengths
        stimulus.colors = colors
        stimulus.draw()
        window.flip()
    window.flip()


def ask(window: Any, factor: str, values: list[str], simulate: bool) -> tuple[str | None, float]:
    """Return the chosen value (None for Escape) and the response time in seconds."""
    from psychopy import core, event, visual

    lines = [f"{number}   {value}" for number, value in enumerate(values, 1)]
    visual.TextStim(window, "\n".join([f"{factor}?", "", *lines]), height=28, units="pix",
                    color=ink_on(window.color)).draw()
    window.flip()
    clock = core.Clock()
    if simulate:
        core.wait(0.1)
        return values[0], clock.getTime()
    keys = [str(number) for number in range(1, len(values) + 1)]
    [key] = event.waitKeys(keyList=[*keys, "escape"], maxWait=float("inf"))[:1]
    return (None if key == "escape" else values[int(key) - 1]), clock.getTime()


def main() -> None:
    """Run the experiment."""
    parser = argparse.ArgumentParser(description="Show point-light displays and ask about them.")
    parser.add_argument("--factor", help="column of trials.csv to ask about")
    parser.add_argument("--participant", default="test")
    parser.add_argument("--repeats", type=int, default=1, help="times that each display is shown")
    parser.add_argument("--trials", type=int, help="stop after so many trials")
    parser.add_argument("--seed", default="0")
    parser.add_argument("--pixels-per-degree", type=float, help="pixels per degree of your screen"
                        " (default: of the screen that the displays were made for)")
    parser.add_argument("--windowed", action="store_true", help="do not fill the screen")
    parser.add_argument("--simulate", action="store_true", help="answer without a person")
    given = parser.parse_args()
    folder = Path(__file__).resolve().parent
    answers = folder / f"answers_{given.participant}.csv"
    if answers.exists():
        raise SystemExit(f"{answers}: this participant has answers; choose another --participant,"
                         " or move the file away")
    try:
        from psychopy import core, visual
    except ImportError as problem:
        raise SystemExit(f"experiment.py needs PsychoPy ({problem}); run it with PsychoPy's own"
                         " Python, or pip install psychopy") from problem
    trials = read_trials(folder)
    factor, values = factor_of(trials, given.factor)
    refuse_other_styles(trials)
    order = order_of(trials, given.repeats, f"{given.seed} {given.participant}")[:given.trials]
    window = visual.Window((800, 800), fullscr=not given.windowed, color=(-1, -1, -1), units="pix")
    with answers.open("x", newline="") as file:
        table = csv.writer(file)
        table.writerow(ANSWERS)
        for number, trial in enumerate(order, 1):
            window.color = color_of(trial["background_color"])
            window.flip()  # a new background is drawn from the next flip on
            visual.TextStim(window, "+", height=40, units="pix", color=ink_on(window.color)).draw()
            window.flip()
            core.wait(FIXATION_S)
            show(window, read_dots((folder / trial["file"]).with_suffix(".csv"),
                                   given.pixels_per_degree), float(trial["fps"]))
            answer, seconds = ask(window, factor, values, given.simulate)
            if answer is None:
                break
            table.writerow([number, trial["file"], factor, trial[factor], answer,
                            int(answer == trial[factor]), f"{seconds:.3f}"])
            file.flush()
    window.close()
    core.quit()


if __name__ == "__main__":
    main()
