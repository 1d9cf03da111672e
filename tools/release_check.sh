#!/bin/sh
# Builds the sdist and the wheel, checks what PyPI asks of them, and runs the wheel, built from the
# sdist, in a fresh environment with what pip alone installs.
# Usage: tools/release_check.sh [PYTHON ...], each with an environment of its own; python3 by default
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ $# -gt 0 ] || set -- python3

pip() { "$@" --quiet --disable-pip-version-check; }

"$1" -m venv "$scratch/tools"
pip "$scratch/tools/bin/pip" install 'build>=1.2' 'twine>=7,<8'
"$scratch/tools/bin/python" -m build --outdir "$scratch/dist" . >/dev/null
"$scratch/tools/bin/twine" check --strict "$scratch"/dist/*
for python; do
    rm -rf "$scratch/fresh"
    "$python" -m venv "$scratch/fresh"
    pip "$scratch/fresh/bin/pip" install "$scratch"/dist/*.whl
    "$scratch/fresh/bin/pip" check
    cd "$scratch"
    "$scratch/fresh/bin/mimegen" plan --action boxing --variants all --out out
    "$scratch/fresh/bin/mimegen" retarget "$OLDPWD/tests/data/left_handed.bvh" --character woman --out out.bvh
    "$scratch/fresh/bin/mimegen" pointlight --action boxing --out dots.gif
    "$scratch/fresh/bin/python" -c "from mimegen.evaluation.embedding import similarities
assert similarities(['boxing'], ['a boxing match'])[0, 0] > 0.5"
    cd "$OLDPWD"
    du -sm "$scratch"/fresh/lib/python*/site-packages | awk '{print "installed: " $1 " MB"}'
done
