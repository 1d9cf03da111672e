"""Depth and normals of an empty set, without figures, rendered by Cycles."""

import bpy
import numpy as np

from mimegen.base.files import publish
from mimegen.groundtruth.job import GeometryJob
from mimegen.groundtruth.kinds import MIN_OPACITY
from mimegen.groundtruth.visible_surface import in_camera
from mimegen.rendering.cycles.passes import NORMAL, LayerReader, begin_passes, unit_normals
from mimegen.rendering.cycles.scene import place_camera
from mimegen.rendering.cycles.scenery import build_set
from mimegen.store.passes import pack_arrays


def render_geometry(job: GeometryJob) -> None:
    """Publish ``depth`` (H, W) and ``normals`` (H, W, 3) of a set, seen from the job's camera.

    Normals are in camera coordinates, stored as float16, and 0 where no surface is seen.
    """
    material = begin_passes(())
    place_camera(job.camera)
    # The horizon lies beyond the usual clipping distance.
    bpy.context.scene.camera.data.clip_end = 20000.0
    build_set(job)
    _see_normals(job, material)
    whole = (0, 0, job.camera.width, job.camera.height)
    layers = LayerReader().render(whole)
    depth = layers["Depth"]
    normals = np.where(np.isfinite(depth)[..., None], unit_normals(layers), 0.0)
    packed = in_camera(normals.astype(np.float32), job.camera).astype(np.float16)
    publish(job.target, pack_arrays({"depth": depth, "normals": packed}),
            makes_folder=False)


def _see_normals(job: GeometryJob, passes: bpy.types.Material) -> None:
    """Make rays record each surface's geometric normal, without bumps.

    Materials less opaque than MIN_OPACITY are made fully transparent. The rest of each material
    stays, so that a net keeps its holes. ``passes``, the material of figures, is removed.
    """
    for name, look in job.scenery.materials.items():
        material = bpy.data.materials[name]
        nodes, links = material.node_tree.nodes, material.node_tree.links
        output = nodes.new("ShaderNodeOutputAOV")
        output.aov_name = NORMAL
        links.new(nodes.new("ShaderNodeNewGeometry").outputs["Normal"], output.inputs["Color"])
        if look.opacity < MIN_OPACITY:
            clear = nodes.new("ShaderNodeBsdfTransparent")
            links.new(clear.outputs[0], nodes["Material Output"].inputs["Surface"])
    bpy.data.materials.remove(passes)
