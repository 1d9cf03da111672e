"""Optional parts of a row, which only some clips have."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from mimegen.base.names import inner_path
from mimegen.manifest.footfalls import FootEvent
from mimegen.manifest.rowpart import ContentKey, Json, Number, RowPart
from mimegen.manifest.timeline import Interval

Numbers = list[Number]
Vector = Annotated[Numbers, Field(min_length=3, max_length=3)]
Quaternion = Annotated[Numbers, Field(min_length=4, max_length=4)]


class CameraFacts(RowPart):
    """A pinhole camera as in Blender: it looks along its local -Z axis, +Y is up in the picture."""

    position: Vector = Field(description="metres, in the world")
    rotation: Quaternion = Field(description="quaternion w x y z, from camera to world")
    lens_mm: Number
    width: int = Field(description="of the picture, in pixels")
    height: int
    sensor_width_mm: Number = 36.0


class MotionFacts(RowPart):
    """The motion: its source, and how its file was read."""

    licence: str | None = Field(None, description="of the motion")
    motion_file: str | None = Field(None, description="name of the score or mocap file")
    motion_sha256: str | None = Field(None, description="SHA-256 of that file")
    motion_kind: str | None = Field(None, description="score, or the ending of the mocap file")
    motion_source: str | None = Field(None, description="where imported mocap came from")
    motion_original_name: str | None = Field(None, description="its name before it was imported")
    motion_stack: str | None = Field(None, description="the FBX animation stack")
    motion_subject: str | None = Field(None, description="the subject that is read from a"
                                                         " C3D file of several people")
    motion_fps_of_file: Number | None = Field(None, description="value of --fps-of-file")
    motion_take: int | None = Field(None, description="value of --take, the number of a take in a"
                                                      " file of several")
    motion_smpl_model_sha256: str | None = Field(None, description="of the user's own SMPL model")
    motion_trim: str | None = Field(None, description="value of --trim")
    motion_first_frame: int | None = Field(None, description="first frame used of the file,"
                                           " whose own first is 0")
    motion_last_frame: int | None = Field(None, description="last frame used of the file")
    motion_mapping_sha256: str | None = Field(None, description="of the user's own bone mapping")
    motion_system: str | None = Field(None, description="the naming system of bones or"
                                      " markers; of arrays the body model, the features, or the"
                                      " order of the joints")
    motion_fps: Number | None = Field(None, description="frames a second of the file")
    motion_unit_m: Number | None = Field(None, description="the file's unit, in metres")
    motion_unit_found_by: str | None = None
    motion_up_axis: str | None = None
    motion_up_axis_found_by: str | None = None
    front_azimuth_deg: Number | None = Field(
        None, description="direction that the first performer faces at the start of the"
                          " performance: 0 is the stage's front, 90 the left of a person who faces"
                          " that front")
    motion_notes: list[str] | None = Field(
        None, description="every assumption and doubt about the motion file")
    travel_scale: Number | None = Field(
        None, description="length of the character's legs, as a multiple of that in the motion"
                          " file. Distances in the clip, and speeds at tempo 1, are this many times"
                          " the file's; two performers share their geometric mean. Null for other"
                          " takes than recordings, and for dots without a character")


class CharacterFacts(RowPart):
    """The characters: the performer, and the partner in scenes of two."""

    character_file: str | None = None
    character_sha256: str | None = Field(None, description="SHA-256 of that file")
    character_key: ContentKey | None = Field(None, description="content key of the character")
    character_height_m: Number | None = None
    character_source: str | None = None
    character_licence: str | None = None
    character_notes: list[str] | None = Field(
        None, description="every assumption and doubt about an imported figure; null for others")
    partner_avatar: str | None = None
    partner_motion_file: str | None = None
    partner_motion_sha256: str | None = None
    partner_character_file: str | None = None
    partner_character_sha256: str | None = None
    partner_character_key: ContentKey | None = None
    partner_character_notes: list[str] | None = None
    partner_character_source: str | None = None
    partner_character_licence: str | None = None


class PanFacts(RowPart):
    """The path of a camera that pans: in each frame the clip is a window of the camera's picture.

    The principal point, which is the center of the camera's picture, is at ``camera.width / 2 -
    left, camera.height / 2 - top`` in the clip.
    """

    left: list[int] = Field(description="of the window in the camera's picture, by frame, pixels")
    top: list[int] = Field(description="the same, from above")


class SetChanges(RowPart):
    """Changes to a set so that performers touch none of its objects and no object hides them."""

    moved_m: Annotated[Numbers, Field(min_length=2, max_length=2)] = Field(
        description="how far they stand from the set's own place, along the set's X and Y")
    left_out: list[Annotated[list[int], Field(min_length=2, max_length=2)]] = Field(
        description="objects of the set, each with the number of its copy; both count from 0")
    names: list[str] = Field(description="what these objects are called in the set's file")
    doubts: list[Literal["wall", "ground"]] = Field(
        description="what is wrong nevertheless: they go through a wall, or where no ground is")


class StageFacts(RowPart):
    """The picture: background, camera, light, render config, device and versions."""

    background_licence: str | None = None
    background_author: str | None = None
    background_source: str | None = None
    background_key: ContentKey | None = Field(
        None, description="content key of what the background's files show, pictures included")
    still_key: ContentKey | None = Field(
        None, description="content key of the set's still; null where no set was rendered")
    set_changes: SetChanges | None = Field(
        None, description="things of the set that are moved or left out for the performers; null"
                          " for none")
    background_shown: Number | None = Field(
        None, description="share of the picture's area that shows things which identify the place,"
                          " 0 to 1, without performers; null if the background lists none")
    camera: CameraFacts | None = None
    pan: PanFacts | None = Field(
        None, description="path of a camera that follows; null for a fixed camera")
    camera_look: Json | None = Field(
        None, description="lens, sensor and hand of --camera-look, as in"
                          " render_configs/looks/*.yaml; null for a pinhole camera")
    light: Json | None = Field(None, description="sun and sky, as in render_configs/*.yaml")
    light_tint: list[Number] | None = Field(
        None, description="with --light place: factors of the figure's light, linear red, green,"
                          " blue; else null")
    shadow_tint: list[Number] | None = Field(
        None, description="with --light place: how much light a shadow takes from the ground, as a"
                          " multiple of the usual, linear red, green, blue; else null")
    render_config: Json | None = Field(
        None, description="the whole render config; of a display its whole specification")
    device: str | None = Field(None, description="the kind of device that rendered")
    rendered_on: str | None = Field(None, description="the machine's kind, where it was recorded")
    cpu: str | None = Field(
        None, description="the kinds of processors that its frames were made on, joined by ;")
    codec: str | None = None
    blender_version: str | None = None
    mimegen_version: str | None = None
    numpy_version: str | None = None


class PassFacts(RowPart):
    """The folder of a clip's ground truth of one kind, and how it was made."""

    folder: Annotated[str, AfterValidator(inner_path)] = Field(
        description="its files, relative to the manifest's folder")
    key: ContentKey = Field(description="content key of the shot's pass in the store")
    geometry_key: ContentKey | None = Field(
        None, description="of the set's depth and normals in it")
    engine: str | None = Field(
        None, description="what looked: raster or cycles; null for keypoints, which need neither")
    files: str | list[str] = Field(description="the first of its files, by which the others go")
    sha256: str = Field(description="of the names and hashes of all its files")


class OutputFacts(RowPart):
    """Ground-truth passes, faults, permutation and timeline."""

    passes: dict[str, PassFacts] | None = Field(
        None, description="ground-truth passes by kind: keypoints, depth, mask, normals, flow,"
                          " parts")
    faults: list[Json] | None = Field(
        None, description="what was made wrong on purpose: amount, what it means, joints, seconds")
    permutation: Json | None = Field(None, description="the line of the specification it is from")
    timeline: list[Interval] | None = Field(
        None, description="what happens from when to when, as far as it is known for certain")
    foot_events: list[FootEvent] | None = Field(
        None, description="when each foot strikes the ground (strike) and leaves it (off), as the"
                          " clip shows it: performer, foot, kind, frame, time_s. Null where it"
                          " cannot be told")


class PersonShown(RowPart):
    """What one of two performers of a point-light display shows."""

    who: Literal[1, 2] = Field(description="1 or 2, as in the names of the dots")
    shown: bool = Field(description="whether any dots of the performer are shown")
    manipulations: list[str] = Field(description="of this performer alone")
    source_frames: Numbers | None = Field(None, description="first and last, of the motion's")
    held_frames: int | None = Field(
        None, description="number of frames before the motion begins or after it ends, in which the"
                          " performer stands still")
    action: str | None = Field(None, description="if it is not the row's")
    take: str | None = Field(None, description="of that other action")
    seed: int | None = Field(None, description="of that take")
    motion_file: str | None = Field(None, description="of that take")
    motion_sha256: str | None = Field(None, description="of that file")


class DisplayFacts(RowPart):
    """A point-light display: all parameters that a paper must report; degrees are of visual angle.
    """

    display: str | None = Field(None, description="name of the preset or file")
    display_style: str | None = Field(None, description="dots, stick or silhouette")
    dots_seed: int | None = None
    generator: str | None = Field(None, description="the random generator and its seeding")
    duration_s: Number | None = None
    dots_from: str | None = Field(None, description="motion, character or markers")
    dot_set: str | None = None
    dot_set_source: str | None = None
    dots_added: list[str] | None = None
    dots: list[str] | None = Field(None, description="names, in the order of the files' columns")
    dot_count: int | None = None
    mask_dot_count: int | None = None
    performers: int | None = None
    landmarks: dict[str, list[str]] | None = Field(None, description="what each dot lies between")
    pixels_per_degree: Number | None = None
    distance_cm: Number | None = Field(None, description="from eye to screen")
    pixel_pitch_mm: Number | None = None
    width_deg: Number | None = None
    height_deg: Number | None = None
    figure_height_m: Number | None = None
    figure_height_px: Number | None = Field(
        None, description="of a standing performer; in a crowd, of each copy")
    figure_height_deg: Number | None = None
    shown_height_px: Number | None = Field(
        None, description="that the dots of the tallest figure cover as displayed, on average over"
                          " the frames: less than the standing height where knees are bent")
    shown_height_deg: Number | None = None
    dot_diameter_px: Number | None = None
    dot_diameter_deg: Number | None = None
    dot_diameter_share_of_figure: Number | None = None
    dot_shape: str | None = None
    antialiasing: str | None = None
    depth_rule: str | None = None
    projection: str | None = None
    azimuth_deg: Number | None = Field(
        None, description="of the camera on the stage: 0 is the stage's front, 90 the left of a"
                          " person who faces that front")
    elevation_deg: Number | None = None
    anchor: str | None = None
    translation: str | None = None
    pixels_per_metre: Number | None = None
    camera_distance_m: Number | None = Field(None, description="null for parallel projection")
    source_fps: Number | None = None
    source_frames: Numbers | None = Field(None, description="first and last, of the motion's")
    source_stride: Number | None = None
    span_ms: Number | None = None
    speed: Number | None = Field(None, description="of the motion, 1 as it was performed")
    direction: str | None = None
    lifetime_frames: int | None = None
    lifetime_ms: Number | None = None
    polarity: str | None = None
    contrast: Number | None = None
    dot_luminance: Number | None = Field(
        None, description="relative, 0 to 1, linear light; like the contrasts null for dots of"
                          " several luminances, whose colors are below")
    background_luminance: Number | None = None
    weber_contrast: Number | None = Field(
        None, description="(dots - background) / background; also null for a black background,"
                          " by whose luminance of 0 it would be divided")
    michelson_contrast: Number | None = Field(
        None, description="(dots - background) / (dots + background)")
    color_by: str | None = None
    colors: list[str] | None = None
    background_color: str | None = None
    occlusion: str | None = None
    dots_outside_share: Number | None = Field(
        None, description="of the performers' dots, over all frames: wholly outside the picture")
    dots_shown_mean: Number | None = Field(
        None, description="dots seen in a frame, those of masks included, on average")
    dots_shown_least: int | None = Field(
        None, description="dots seen in the frame that shows the fewest")
    masks: list[Json] | None = Field(
        None, description="each with its parameters, area in pixels and degrees, dots and density")
    condition: str | None = Field(
        None, description="as --conditions has it: manipulations and settings, or upright")
    manipulations: list[Json] | None = None
    people_shown: list[PersonShown] | None = Field(
        None, description="what each of two performers shows, where one is manipulated alone or"
                          " is of another action")
    window: int | None = Field(None, description="number of the window of a sampled display")
    frame_indices: list[int] | None = None
    window_span_ms: Number | None = None
    montage: str | None = Field(None, description="columns x rows")
