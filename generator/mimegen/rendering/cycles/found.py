"""Print Blender's version, Cycles' folder and the devices as one line of JSON.

This file is run as a script by Blender's program or a Python that has bpy, so it imports nothing
of mimegen.
"""

import json
from pathlib import Path

import bpy

MARK = "mimegen found: "


def main() -> None:
    """Print the line after MARK, which tells it from the lines that Blender prints."""
    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.refresh_devices()
    cycles = Path(bpy.utils.system_resource("SCRIPTS")) / "addons_core" / "cycles"
    print(MARK + json.dumps({
        "version": ".".join(map(str, bpy.app.version)), "cycles": str(cycles),
        "devices": [[device.type.lower(), device.name] for device in preferences.devices]}),
        flush=True)


if __name__ == "__main__":
    main()
