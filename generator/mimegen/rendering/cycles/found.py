"""What Blender finds: its version, Cycles' folder and the devices, printed as one line of JSON.

Run as a file by Blender's program or a Python that has bpy, so it imports nothing of mimegen's.
"""

import json
from pathlib import Path

import bpy

MARK = "mimegen found: "


def main() -> None:
    """Print it after a mark, for Blender prints lines of its own."""
    preferences = bpy.context.preferences.addons["cycles"].preferences
    preferences.refresh_devices()
    cycles = Path(bpy.utils.system_resource("SCRIPTS")) / "addons_core" / "cycles"
    print(MARK + json.dumps({
        "version": ".".join(map(str, bpy.app.version)), "cycles": str(cycles),
        "devices": [[device.type.lower(), device.name] for device in preferences.devices]}),
        flush=True)


if __name__ == "__main__":
    main()
