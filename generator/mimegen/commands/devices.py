"""``mimegen devices``: list Cycles' devices, and compile GPU kernels ahead of time."""

import json
from dataclasses import asdict
from typing import Any

import click
from rich.table import Table

from mimegen.base.errors import RequestError
from mimegen.base.kernel_folder import kernel_folder
from mimegen.commands.common import DONE, blender_option, exits_cleanly, kernels_option, warn
from mimegen.commands.tables import wide_console
from mimegen.rendering.found import DRIVER, Found, Start, capabilities, find_devices, starts
from mimegen.rendering.kernels import all_prepared, arch_of, prepared_in
from mimegen.rendering.preparing import prepare


@click.group("devices", invoke_without_command=True)
@blender_option
@kernels_option("--cache")
@click.option("--json", "as_json", is_flag=True, help="Print the devices as one JSON object.")
@click.pass_context
def devices_command(context: click.Context, as_json: bool) -> None:
    """List Cycles' devices; compile GPU kernels ahead of time."""
    if context.invoked_subcommand is None:
        _list(as_json)


@exits_cleanly
def _list(as_json: bool) -> int:
    found = find_devices()
    listed = starts(found, prepared_in(kernel_folder(), found.cycles), capabilities())
    if as_json:
        click.echo(json.dumps(_report(found, listed), ensure_ascii=False, indent=1))
        return DONE
    table = Table("device", "number", "kinds", "capability", "kernel", "first start", box=None)
    for one in listed:
        table.add_row(one.name, str(one.count), ", ".join(one.kinds), one.arch or "", one.kernel,
                      one.first_start)
    click.echo(f"Blender {found.cycles.version}, with kernels for "
               + (", ".join(f"sm_{arch}" for arch in found.cycles.compiled) or "no NVIDIA GPU"))
    wide_console().print(table)
    _warn_of_others(found)
    return DONE


def _report(found: Found, listed: list[Start]) -> dict[str, Any]:
    ours = prepared_in(kernel_folder(), found.cycles)
    return {"blender": found.cycles.version, "cache": str(kernel_folder()),
            "compiled": [f"sm_{arch}" for arch in found.cycles.compiled],
            "prepared": [asdict(one.record) | {"file": str(one.path)} for one in ours],
            "devices": [asdict(one) for one in listed]}


def _warn_of_others(found: Found) -> None:
    """Warn about kernels in the cache folder that this Blender does not use."""
    ours = {one.path for one in prepared_in(kernel_folder(), found.cycles)}
    for one in all_prepared(kernel_folder()):
        if one.path not in ours:
            warn(f"{one.path}: was prepared for Blender {one.record.blender} from another PTX, and"
                 f" is not used by this Blender {found.cycles.version}")


@devices_command.command("prepare")
@exits_cleanly
@blender_option
@kernels_option("--cache")
@click.option("--arch", "arches", multiple=True, metavar="sm_NN",
              help="GPU architecture to compile for: sm_80 (A100), sm_90 (H100, H200), sm_100"
                   " (B200); may be repeated.  [default: the GPUs of this machine that need it]")
def prepare_command(arches: tuple[str, ...]) -> int:
    """Compile the Cycles kernel for GPUs that Blender has none for.

    It takes about 8 minutes of one core for each architecture, needs no GPU, and leaves Blender's
    own folder unchanged. Workers find the kernel in the cache folder, on every machine that sees
    it.
    """
    wanted = [arch_of(text) for text in arches]
    found = find_devices()
    for arch in wanted or _needed(found):
        click.echo(prepare(found.cycles, arch, kernel_folder(), lambda text: click.echo(
            text, err=True)))
    return DONE


def _needed(found: Found) -> list[int]:
    """Return the architectures of this machine's GPUs for which the driver would compile.

    Raises RequestError if no GPU is found.
    """
    arches = capabilities()
    if not arches:
        raise RequestError("no NVIDIA GPU was found here; name the architecture, as in --arch"
                           " sm_90")
    listed = starts(found, (), arches)
    return sorted({arch_of(one.arch) for one in listed if one.arch and one.kernel == DRIVER})
