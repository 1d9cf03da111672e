"""Clips of real motion capture that choreographed takes are held against."""

from dataclasses import dataclass
from pathlib import Path

from mimegen.characters.character import Performance
from mimegen.library.cast import cast_member
from mimegen.library.casting import Casting
from mimegen.library.catalogue import Catalogue
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.take import LibraryTake
from mimegen.motion.editing import resampled
from mimegen.readers.options import ReadOptions, parse_trim

SAMPLES = Path(__file__).resolve().parents[2] / "shared" / "mocap-samples"


@dataclass(frozen=True)
class CapturedMotion:
    """A span of a sample file (seconds, as ``--trim`` wants it), and what is done in it."""

    name: str
    kind: str
    file: str
    trim: str = "none"
    hand_shape: str = "relaxed"
    partner: str | None = None

    def take(self, samples: Path) -> LibraryTake:
        """Return the clip as a take of the samples in a folder."""
        found = {file.name: file for file in samples.rglob("*") if file.is_file()}
        return RecordedTake(
            action=self.kind, name=self.name, labels=(self.kind,), aligned=None, misaligned=None,
            file=found[self.file], actor="recorded", licence="", hand_shape=self.hand_shape,
            partner=found[self.partner] if self.partner else None,
            options=ReadOptions(trim=parse_trim(self.trim)))


# What is no T-pose, no walking up to the place and no falling to the canvas.
CLIPS = (
    CapturedMotion("Boxing_Toes", "strike", "assimp_Boxing_Toes.bvh", "3.2:13.4", "fist"),
    CapturedMotion("avatarlab boxing", "strike", "avatarlab_boxing.bvh", hand_shape="fist"),
    CapturedMotion("bandai1_punch", "strike", "bandai1_punch_normal_001.bvh", hand_shape="fist"),
    CapturedMotion("golf_01", "swing", "golf_01.amc", hand_shape="grip"),
    CapturedMotion("tennis serve 2", "swing", "ktk_tennis_serve.c3d", "5.8:9.4", "grip"),
    CapturedMotion("tennis serve 4", "swing", "ktk_tennis_serve.c3d", "13.2:17.0", "grip"),
    CapturedMotion("cmu_12_01 walk", "walk", "pybvh_cmu_12_01_walk.bvh"),
    CapturedMotion("35_01 walk", "walk", "35_01.amc"),
    CapturedMotion("AV_8Walk", "walk", "pymo_AV_8Walk.bvh"),
    CapturedMotion("Swagger", "walk", "gpmat_Swagger.bvh"),
    CapturedMotion("xia strutting", "walk", "dme_xia_strutting_01_000.bvh"),
    CapturedMotion("cmu_18_01 handshake", "meet", "cmu_18_01.bvh", partner="cmu_19_01.bvh"),
    CapturedMotion("jumping", "dance", "anim_fair_jumping.bvh", "1.7:4.8"),
    CapturedMotion("jesse_dance", "dance", "anim_rokoko_jesse_dance.bvh"),
    CapturedMotion("131_04 dance", "dance", "131_04-dance.amc"),
)


def on_man(catalogue: Catalogue, take: LibraryTake, fps: float) -> tuple[Performance, ...]:
    """Return a take's performers, all of them the clothed man, at a frame rate."""
    man = cast_member(catalogue, "man")
    scene = Casting(take, (man,) * take.performers).perform(fps)
    return tuple(Performance(one.character, resampled(one.motion, fps)) for one in scene)
