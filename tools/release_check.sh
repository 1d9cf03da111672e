#!/bin/sh
# Builds the sdist and the wheel, checks what PyPI asks of them, and runs the wheel, built from the
# sdist, by uvx, by pipx and in a fresh environment with what pip alone installs.
# Usage: tools/release_check.sh [PYTHON ...], each with an environment of its own; python3 by default
# With MIMEGEN_BLENDER, some frames are rendered by that Blender.
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- python3

pip() { "$@" --quiet --disable-pip-version-check; }

"$1" -m venv "$scratch/tools"
tools="$scratch/tools/bin"
pip "$tools/pip" install 'build>=1.2' 'twine>=7,<8' 'pipx>=1.7,<2' 'uv>=0.5,<1'
"$tools/python" -m build --outdir "$scratch/dist" . >/dev/null
"$tools/twine" check --strict "$scratch"/dist/*
wheel=$(ls "$scratch"/dist/*.whl)
UV_CACHE_DIR="$scratch/uv" "$tools/uvx" --quiet --python "$1" --from "$wheel" mimegen --version
rm -rf "$scratch/uv"
PIPX_HOME="$scratch/pipx" "$tools/pipx" run --python "$1" --spec "$wheel" mimegen --version
rm -rf "$scratch/pipx"
# A render config that a test can afford.
sed -e 's/^width:.*/width: 96/' -e 's/^height:.*/height: 54/' -e 's/^fps:.*/fps: 2/' \
    render_configs/preview.yaml >"$scratch/tiny.yaml"
for python; do
    rm -rf "$scratch/fresh"
    "$python" -m venv "$scratch/fresh"
    pip "$scratch/fresh/bin/pip" install "$wheel"
    "$scratch/fresh/bin/pip" check
    cd "$scratch"
    "$scratch/fresh/bin/mimegen" plan --action boxing --variants all --out out
    "$scratch/fresh/bin/mimegen" retarget "$OLDPWD/tests/data/left_handed.bvh" --character woman --out out.bvh
    "$scratch/fresh/bin/mimegen" pointlight --action boxing --out dots.gif
    "$scratch/fresh/bin/python" -c "from mimegen.evaluation.embedding import similarities
assert similarities(['boxing'], ['a boxing match'])[0, 0] > 0.5"
    [ -z "${MIMEGEN_BLENDER:-}" ] || "$scratch/fresh/bin/mimegen" render --action boxing \
        --variants base+blank@0 --config tiny.yaml --quiet --out rendered
    cd "$OLDPWD"
    du -sm "$scratch"/fresh/lib/python*/site-packages | awk '{print "installed: " $1 " MB"}'
done
