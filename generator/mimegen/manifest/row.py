"""A row of the manifest: every fact needed to use a clip, cite it or make it again.

Fields that MIME's manifests have keep MIME's names and meaning; ``config_name`` is the variant.
"""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, model_validator

from mimegen.base.names import inner_path
from mimegen.manifest.parts import (
    CharacterFacts,
    DisplayFacts,
    MotionFacts,
    OutputFacts,
    StageFacts,
)
from mimegen.manifest.rowpart import ContentKey, Number, RowPart
from mimegen.manifest.timeline import PERFORMER

ROW_VERSION = 2
# Character name of the variants that show a place without a performer.
NOBODY = "nobody"
# Condition of point-light displays without manipulations.
UPRIGHT = "upright"
# Kind of motion of actions of the face alone.
FACE = "face"
# Kinds of motion that mimegen makes; all others are recordings.
MADE_KINDS = ("score", "gait", "hands", "scene", FACE)
# More than a day at 100 frames per second; a row that claims more is invalid.
MAX_FRAMES = 10**7


class StimulusFacts(RowPart):
    """Fields of every row."""

    row_version: int = Field(ROW_VERSION, ge=1, description="of this model")
    sample_id: str = Field(min_length=1, description="unique name of the clip")
    file_name: Annotated[str, AfterValidator(inner_path)] = Field(
        description="the clip, relative to the manifest's folder")
    plain_id: str | None = Field(
        None, description="with --names opaque: the descriptive sample_id")
    action: str
    take: str
    actor: str = Field(description="choreography, recorded, or who performed")
    labels: list[str] = Field(min_length=1, description="the right answers, best first")
    label: str | None = Field(None, description="MIME's: the labels in one text, joined by |")
    semantic_group: str | None = Field(
        None, description="actions of one group are never each other's wrong answers")
    intentions: list[str] | None = Field(None, description="what the person wants, best first")
    distractors: str | None = Field(None, description="MIME's: wrong answers, joined by |")
    type: str | None = Field(None, description="MIME: an animated body; pointlight: dots")
    split: str | None = Field(None, description="the part of a data set, as MIME's rows have it")
    avatar: str | None = Field(description="the character; null for dots of the motion itself")
    config_name: str | None = Field(
        None, description="MIME's: the variant, as base+blank@0; null if none was requested")
    variant: str | None = Field(None, description="the same as config_name, in mimegen's word")
    angle: Number | None = Field(
        None, description="how far the camera is turned from the render config's own place,"
                          " degrees counterclockwise from above")
    view_azimuth_deg: Number | None = Field(
        None, description="where the camera stands, 0 to 360: 0 is before the first performer, 90"
                          " at their left hand; null for markers, which have no known front")
    background_config: str | None = Field(
        None, description="blank, aligned, misaligned, or named")
    background_name: str | None = None
    set_seed: int | None = Field(None, description="the seed that drew the place, one of its kind")
    set_redrawn: int | None = Field(
        None, description="how many draws of that seed could not stand; null for none")
    render_config_name: str | None = None
    seed: int
    style: str | None = Field(None, description="how a score is performed; null for its own way")
    stance: str | None = Field(None, description="in which a cue is performed; null for no cue")
    intensity: Number | None = Field(
        None, description="of a cue's movements, 0 to 1; null for 1, as its score has it")
    frequency: int | None = Field(
        None, description="how many times a cue's movement is made; null for the score's own")
    gait: dict[str, Any] | None = Field(
        None, description="walker, manner and direction of a gait as shown, at the row's tempo and"
                          " mirrored if it is, and the options given (asked). On a character, speed"
                          " and step_length are scaled to its legs by body_scale; cycles of a loop"
                          " are rounded to frames, and its last frame leads into the first"
                          " (loop). Null for other takes")
    hand_action: dict[str, Any] | None = Field(
        None, description="hand, size, tempo and posture of a hand action, as its seed drew them;"
                          " null for other takes")
    grid: dict[str, Any] | None = Field(
        None, description="the values of a grid's factors; null for no grid")
    face: dict[str, Any] | None = Field(
        None, description="the emotion, captured face, text or gaze that was laid over the"
                          " first performer's face; null for none")
    faces_hidden: list[str] | None = Field(
        None, description="performer, partner: whose face cannot be seen to move, whatever face the"
                          " clip has, because of a suit, lights or dots; null for none")
    tempo: Number | None = Field(None, description="times as fast as performed; null for 1")
    mirrored: bool | None = Field(None, description="left and right are swapped; null for no")
    reversed: bool | None = Field(
        None, description="the performance is played backwards, from its last frame to its first;"
                          " labels are those of the action forwards, the place and camera are not"
                          " reversed; null for no")
    fps: Number = Field(gt=0)
    frames: int = Field(ge=1, le=MAX_FRAMES)
    width: int = Field(ge=1, description="pixels")
    height: int = Field(ge=1, description="pixels")
    sha256: str = Field(description="of the clip's file")
    shot_key: ContentKey | None = Field(
        None, description="content key of the foreground; null for dots")
    clip_key: ContentKey | None = Field(None, description="content key of the clip")


# A row is written in the order of these parts, from last to first.
class Row(OutputFacts, DisplayFacts, StageFacts, CharacterFacts, MotionFacts, StimulusFacts):
    """One clip. Fields that were not set are not written; fields of newer versions are kept."""

    @property
    def shows_nobody(self) -> bool:
        """Whether this is a control clip that shows a place without a performer, so no action."""
        return (self.config_name or "").startswith(f"{NOBODY}+")

    @property
    def is_recorded(self) -> bool:
        """Whether the motion is a recording, or read from another file of motion."""
        return self.motion_kind not in MADE_KINDS

    @property
    def hides_its_action(self) -> bool:
        """Whether only the first performer's face shows the action, and it is hidden."""
        facial = self.motion_kind == FACE or any(
            one.cue is not None and one.cue.facial and one.performer == PERFORMER
            for one in self.timeline or ())
        return facial and PERFORMER in (self.faces_hidden or ())

    @property
    def parts_performers(self) -> bool:
        """Whether one of two performers is not shown, or shows another action than the other."""
        return any(not one.shown or one.action is not None for one in self.people_shown or ())

    @property
    def shows_its_action(self) -> bool:
        """Whether the clip shows the action that its labels name."""
        return not (self.shows_nobody or self.hides_its_action or self.parts_performers)

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, content: Any) -> Any:
        """Fill in the version, ``label``, and both names of the variant."""
        if not isinstance(content, dict):
            return content
        variant = content.get("config_name", content.get("variant"))
        if content.get("variant", variant) != variant:
            raise ValueError("config_name and variant are the same and must not differ")
        named = {} if variant is None else {"config_name": variant, "variant": variant}
        labels = content.get("labels")
        joined = "|".join(map(str, labels)) if isinstance(labels, list) else None
        return {"row_version": ROW_VERSION, "label": joined, **content, **named}
