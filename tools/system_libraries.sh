#!/bin/sh
# Sees that the system libraries which Blender (bpy) links to are there; installs them where it may,
# and with them OpenGL without a display, for drafts.
# Usage: tools/system_libraries.sh PYTHON
set -eu
packages="libgl1 libsm6 libice6 libxi6 libxkbcommon0 libxrender1 libxfixes3 libxt6 libxext6 libx11-6 libgomp1 libegl1 libgl1-mesa-dri"

missing() {
    find "$("$1" -c 'import importlib.util as u; print(u.find_spec("bpy").submodule_search_locations[0])')" \
        -maxdepth 3 -name '*.so*' -exec ldd {} + 2>/dev/null | awk '/not found/ {print $1}' | sort -u \
        | grep -v -E '^lib(cuda|amdhip|hip|ze_loader|nv)' || true
}

# Runs a command as root; sudo may ask for the password only where somebody sits.
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif ! command -v sudo >/dev/null; then return 1
    elif [ -t 0 ]; then sudo "$@"
    else sudo -n "$@" 2>/dev/null
    fi
}

absent=$(missing "$1")
[ -z "$absent" ] && exit 0
if command -v apt-get >/dev/null; then
    echo "Installing the system libraries that Blender needs: apt-get install $packages"
    as_root apt-get update -qq \
        && as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $packages >/dev/null \
        && absent=$(missing "$1") || true
    [ -z "$absent" ] && exit 0
fi
echo "Blender needs system libraries that are not here:" $absent >&2
echo "On Debian or Ubuntu: sudo apt-get install $packages" >&2
exit 1
