"""A planned request: its clips, and the render config and device that make them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from mimegen.base.blender import blender_is_installed, require_blender
from mimegen.base.counted import counted, listed
from mimegen.base.errors import RequestError, near_misses
from mimegen.farm.settings import FarmSettings
from mimegen.faults.fault import parse_faults
from mimegen.groundtruth.kinds import ENGINES
from mimegen.library.catalogue import Catalogue
from mimegen.library.recorded_take import RecordedTake
from mimegen.library.takes import SEEDED, SeededTakes, action_of
from mimegen.plan.passes import WantedPasses
from mimegen.plan.permute.declaration import read_spec
from mimegen.plan.permute.planned import permuted_plan
from mimegen.plan.plan import Plan, make_plan
from mimegen.plan.variants import Variant, parse_variants
from mimegen.production.passtasks import BELOW
from mimegen.rendering.auto import auto_config, choose_device
from mimegen.request.render_request import RenderRequest, option
from mimegen.request.sources import ambiguous_left_out, takes_of
from mimegen.shots.config import FramedCamera, RenderConfig, read_config
from mimegen.shots.devices import DEVICE_KINDS, OPENGL, Device
from mimegen.shots.follow import follows
from mimegen.shots.look import CameraLook, looks, margin_through, read_look

Warn = Callable[[str], None]
WITHOUT_CYCLES = "draft"
NO_LOOK = "none"
WITHOUT_BLENDER = ("Blender is not installed here, so --config draft is used; pip install"
                   " 'mimegen[render]' adds it and needs Python 3.11 or 3.13, and --blender PATH"
                   " uses one that is installed elsewhere")


@dataclass(frozen=True)
class Planned:
    """A request with its plan, render config, device and ground-truth passes."""

    request: RenderRequest
    plan: Plan
    config: RenderConfig
    device: Device
    passes: WantedPasses | None = None

    @classmethod
    def of(cls, request: RenderRequest, farm: FarmSettings | None, warn: Warn) -> Self:
        """Plan a request for a farm; without one (None), look for no farm's device.

        ``warn`` receives messages that the user should see. Raises RequestError for unknown names
        and for options that cannot be combined.
        """
        passes = _wanted_passes(request)
        catalogue = Catalogue.with_libraries(request.library)
        devices = _Devices(request.device, farm, warn)
        if request.permutations is not None:
            plan, config, device = _permuted(catalogue, request.permutations, request, devices)
        else:
            plan, config, device = _selected(catalogue, request, devices)
        if passes is not None:
            _refuse_without_truth(plan, request.fault)
        return cls(request, plan, config, device, passes)

    @property
    def automatic(self) -> bool:
        """Whether the render config was chosen automatically."""
        return self.request.config == "auto" and self.request.permutations is None

    @property
    def fixed_request(self) -> RenderRequest:
        """The request with files, device and config named so that any machine understands it."""
        chosen = {"device": self.device.kind}
        if self.automatic:
            chosen["config"] = WITHOUT_CYCLES if self.config.engine == "raster" \
                else auto_config(self.device.kind)
        return self.request.anywhere(**chosen)

    @property
    def staged(self) -> bool:
        """Whether the request is for scenes."""
        return self.request.scene is not None


@dataclass(frozen=True)
class _Devices:
    """Choose the rendering device: the wanted one, on this machine or on a farm's machines."""

    wanted: str
    farm: FarmSettings | None
    warn: Warn

    def for_config(self, catalogue: Catalogue, name: str) -> tuple[RenderConfig, Device]:
        """Return the render config of a name or file, and the device that renders it."""
        if name == "auto" and not blender_is_installed():
            self.warn(WITHOUT_BLENDER)
            name = WITHOUT_CYCLES
        config = None if name == "auto" else read_config(catalogue.file("config", name))
        if config is not None and config.engine == "raster":
            if self.wanted.lower() not in ("auto", OPENGL):
                raise RequestError(f"--device {self.wanted}: config {config.name} is drawn by"
                                   " OpenGL, which chooses its own device; omit --device")
            return config, Device(OPENGL, 1)
        require_blender(f"--config {name}")
        device = self._device()
        return config or read_config(catalogue.file("config", auto_config(device.kind))), device

    def _device(self) -> Device:
        """Return the device; check that it exists only if this machine will render."""
        if self.farm is None:
            kind = re.sub(r":\d+$", "", self.wanted)
            if kind.lower() == "auto":
                return choose_device("auto", self.warn)
            return _device_elsewhere(kind, FarmSettings())
        if self.farm.farm == "local":
            return choose_device(self.wanted, self.warn)
        return _device_elsewhere(self.wanted, self.farm)


def _device_elsewhere(wanted: str, farm: FarmSettings) -> Device:
    """Return the kind of device of a farm's machines, which this machine cannot query."""
    kind = wanted.lower()
    if kind == "auto" and not farm.gpus_per_task:
        return Device("cpu", 1)
    if kind not in DEVICE_KINDS:
        raise RequestError(f"--device {wanted}: expected the kind of device of the farm's machines:"
                           f" {', '.join(DEVICE_KINDS)}")
    return Device(kind, 1)


def _selected(catalogue: Catalogue, request: RenderRequest, devices: _Devices
              ) -> tuple[Plan, RenderConfig, Device]:
    """Return the plan of a request's takes and variants, with its config and device."""
    takes = takes_of(catalogue, request)
    _say_doubts(takes, request, devices.warn)
    _say_left_out(catalogue, request, devices.warn)
    if request.partner_character is not None and not any(
            take.performers == 2 for take in takes.takes):
        raise RequestError(f"--partner-character {request.partner_character}: the selected actions"
                           " have one performer; omit it, or choose an action for two")
    variants = "all" if request.variants is None else request.variants
    cells = parse_variants(variants, set(catalogue.characters), set(catalogue.backgrounds))
    own_config, device = devices.for_config(catalogue, request.config)
    config = request.altering.config(own_config)
    _refuse_moving_camera(config, request, cells)
    look = _camera_look(request, config)
    config = _filmed(config, look)
    plan = make_plan(catalogue, takes, cells, config, device.kind, request.character,
                     request.partner_character, parse_faults(request.fault), request.set_seed,
                     request.altering.follow_place, look)
    # Said only of a request that can be carried out: a refused one has one line.
    for line in (*_without_seeds(takes, request), *_matched(catalogue, takes, request),
                 *_unlabelled(takes, request)):
        devices.warn(line)
    return plan, config, device


def _say_doubts(takes: SeededTakes, request: RenderRequest, warn: Warn) -> None:
    """Report every assumption and doubt about the user's own motion files, one line for each."""
    if request.motion is not None:
        for take in takes.takes:
            if isinstance(take, RecordedTake):
                for line in take.doubts:
                    warn(line)


def _without_seeds(takes: SeededTakes, request: RenderRequest) -> Iterator[str]:
    """Yield how many takes do not vary by seed if several seeds are requested."""
    without = sum(not isinstance(take, SEEDED) for take in takes.takes)
    if without and len(request.seed) > 1:
        yield (f"--seed: {counted(without, 'take')} of motion capture: seeds do not vary"
               f" recordings, so {len(request.seed)} seeds make no more clips than one")


def _matched(catalogue: Catalogue, takes: SeededTakes, request: RenderRequest) -> Iterator[str]:
    """Yield what a recording takes over from the library's action of the same label."""
    if request.motion is None:
        return
    take = takes.takes[0]
    values = {"aligned background": (request.aligned, take.aligned),
              "misaligned background": (request.misaligned, take.misaligned),
              "semantic group": (request.group, take.semantic_group)}
    used = [f"{name} {value}" for name, (given, value) in values.items() if value and not given]
    for label in take.labels:
        if used and (known := action_of(catalogue, (label,))) is not None:
            yield (f"'{label}' is a name of the library's action {known.id}, from which the clips"
                   f" take {listed(used)}")
            return


def _unlabelled(takes: SeededTakes, request: RenderRequest) -> Iterator[str]:
    """Yield what questions would get wrong for lack of a label or of a semantic group."""
    if request.motion is None:
        return
    take = takes.takes[0]
    if not request.label and take.labels == (request.motion.stem,):
        yield (f"{take.labels[0]}: no --label says what it shows, so its name is the label that"
               " questions count as correct")
    elif take.semantic_group is None:
        yield (f"'{take.labels[0]}' is in no semantic group, so questions may offer names of"
               " similar actions as wrong answers; give --group NAME (mimegen list groups)")


def _say_left_out(catalogue: Catalogue, request: RenderRequest, warn: Warn) -> None:
    """Report how many ambiguous actions ``all`` or a set leaves out."""
    left_out = ambiguous_left_out(catalogue, request.action or "")
    if left_out:
        warn(f"{counted(left_out, 'action')} that viewers often take for others"
             f" {'is' if left_out == 1 else 'are'} left out of --action {request.action}; name"
             " them to render them (AMBIGUOUS in mimegen list actions)")


def _refuse_moving_camera(config: RenderConfig, request: RenderRequest, cells: list[Variant]
                          ) -> None:
    displays = any(cell.words is not None for cell in cells)
    if follows(config) and (request.passes is not None or displays):
        raise RequestError("--camera follow: ground truth and point-light displays need a fixed"
                           " camera; omit --passes and point-light variants")


def _camera_look(request: RenderRequest, config: RenderConfig) -> CameraLook | None:
    """Return the wanted camera look, or None.

    Raises RequestError for an unknown look, and for a look with a camera that follows.
    """
    name = request.camera_look or config.camera_look
    if name is None or name == NO_LOOK or (request.camera_look is None and follows(config)):
        return None
    if follows(config):
        raise RequestError("--camera-look requires a fixed camera; omit --camera follow")
    path = Path(name)
    if path.suffix:
        return read_look(path)
    if name not in looks():
        raise RequestError(f"--camera-look {name}: no such look{near_misses(name, looks())}")
    return read_look(looks()[name])


def _filmed(config: RenderConfig, look: CameraLook | None) -> RenderConfig:
    """Return a config adapted to a look: framed for its lens and, for Cycles, with its shutter.

    A shutter that the config itself sets takes precedence.
    """
    if look is None:
        return config
    camera = config.camera
    if isinstance(camera, FramedCamera):
        margin = margin_through(look, (config.width, config.height), camera.margin)
        camera = camera.model_copy(update={"margin": margin})
    shutter = look.shutter if config.engine == "cycles" else None
    return config.model_copy(update={"camera": camera, "shutter": config.shutter or shutter})


def _permuted(catalogue: Catalogue, path: Path, request: RenderRequest, devices: _Devices
              ) -> tuple[Plan, RenderConfig, Device]:
    """Return the plan of a specification; its clips must share one render engine."""
    declared = read_spec(path)
    named = request.config != "auto"
    names = [request.config] if named else list(dict.fromkeys(
        one.declaration.config for one in declared))
    found = [devices.for_config(catalogue, name) for name in names]
    if len({config.engine for config, _ in found}) > 1:
        raise RequestError(f"{path}: declares clips of two engines, configs {', '.join(names)};"
                           " split the lines into two files, or add --config")
    config, device = found[0]
    try:
        plan = permuted_plan(catalogue, declared, device.kind, config if named else None)
    except RequestError as problem:
        raise RequestError(f"{path}: {problem}") from problem
    return plan, config, device


def _refuse_without_truth(plan: Plan, faults: tuple[str, ...]) -> None:
    """Raise RequestError if ground truth cannot be made for the clips of a plan."""
    if any(fault.kind.below for fault in parse_faults(faults)):
        raise RequestError(BELOW)
    if not plan.clips:
        raise RequestError("--passes: point-light displays have no ground truth, they show dots of"
                           " the motion itself; choose a body's variant such as base+blank@0")


def _wanted_passes(request: RenderRequest) -> WantedPasses | None:
    if request.passes is not None:
        return WantedPasses.of(request.passes, request.passes_from)
    if request.passes_from != ENGINES[0]:
        raise RequestError(f"{option('passes_from')} {request.passes_from} requires --passes")
    return None


