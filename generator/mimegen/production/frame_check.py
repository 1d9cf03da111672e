"""Render drafts of declared clips and redraw those whose frames are too similar to given clips."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mimegen.base.errors import RequestError
from mimegen.evaluation.likeness.keyframes import ClipAppearance, look_of
from mimegen.evaluation.likeness.nearness import NearestPair, Nearness
from mimegen.plan.permute.declaration import Declaration, Permutation
from mimegen.plan.permute.drawing import Drawing
from mimegen.plan.permute.planned import permuted_plan
from mimegen.plan.plan import Plan
from mimegen.shots.config import RenderConfig
from mimegen.shots.devices import OPENGL

# Low, because the comparison uses keyframes, not motion.
DRAFT_FPS = 6.0
MAX_REDRAWS = 10  # how often a clip is redrawn at most
# Carries out a plan in a folder; returns the error message of each clip that failed, by name.
Carry = Callable[[Plan, Path], dict[str, str]]


@dataclass
class FrameCheck:
    """Renders drafts into ``out`` with the config ``draft`` and compares them with given clips.

    ``pairs`` holds the nearest given clip of each draft, ``redrawn`` the pairs that were too
    similar.
    """

    drawing: Drawing
    nearness: Nearness
    draft: RenderConfig
    out: Path
    carry_out: Carry
    pairs: dict[int, NearestPair] = field(default_factory=dict)
    redrawn: list[NearestPair] = field(default_factory=list)

    def redraw_similar(self, drawn: Sequence[Declaration]) -> list[Declaration]:
        """Return the declarations, with those redrawn whose drafts are too similar to a given clip.

        Raises RequestError if drafts cannot be rendered, or if one is still too similar after
        ``MAX_REDRAWS`` redraws.
        """
        kept, due = list(drawn), list(range(len(drawn)))
        for redraw in range(1, MAX_REDRAWS + 2):
            self._compare(kept, due)
            due = [number for number in due
                   if self.pairs[number].distance < self.nearness.threshold]
            if not due:
                return kept
            self.redrawn += [self.pairs[number] for number in due]
            if redraw <= MAX_REDRAWS:
                for number in due:
                    kept[number] = self.drawing.draw(number, frame_redraws=redraw)
        raise RequestError(f"item {due[0]}: no sample is further than"
                           f" {self.nearness.threshold:.3f} from"
                           f" {self.pairs[due[0]].given.name}; vary more axes, or reduce"
                           " --frame-distance")

    def _compare(self, declared: Sequence[Declaration], numbers: Sequence[int]) -> None:
        looks = self._appearances(Permutation(number, declared[number]) for number in numbers)
        self.pairs |= dict(zip(numbers, self.nearness.nearest(looks), strict=True))

    def _appearances(self, permutations: Iterable[Permutation]) -> list[ClipAppearance]:
        """Render drafts of permutations and return their looks, in the same order.

        Raises RequestError if a draft fails.
        """
        config = self.draft.model_copy(update={"fps": DRAFT_FPS})
        plan = permuted_plan(self.drawing.space.catalogue, list(permutations), OPENGL, config)
        failures = self.carry_out(plan, self.out)
        if failures:
            name, why = next(iter(sorted(failures.items())))
            raise RequestError(f"--check-frames: the draft of {name} failed: {why}")
        # A plan groups the clips of one shot; looks must be in the order of the permutations.
        clips = sorted((one.permutation.number, one.permutation.declaration.action, one.sample_id)
                       for one in plan if one.permutation)
        return [look_of(self.out / "clips" / f"{name}.mp4", name, action)
                for _, action, name in clips]
