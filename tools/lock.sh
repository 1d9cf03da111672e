#!/bin/sh
# Writes requirements.lock: the releases, with hashes, that `make setup` installs, for all
# Pythons from 3.11. Names no index; uv asks the one that it is set up for.
# Usage: tools/lock.sh UV [NAME ...], NAMEs of packages to renew; without one, all are.
set -eu
cd "$(dirname "$0")/.."
uv=$1
shift
lock=requirements.lock
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ -f "$lock" ] && [ $# -gt 0 ] && cp "$lock" "$scratch/all"
for name in "$@"; do set -- "$@" --upgrade-package "$name"; shift; done

compiled() {
    "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
        --no-header --no-emit-index-url "$@" >/dev/null
}

compiled pyproject.toml --extra test --output-file "$scratch/all" "$@"
{
    echo "# Written by \`make lock\`; what it is made from stands in pyproject.toml."
    echo "# Install it with: pip install --no-deps --require-hashes -r $lock"
    grep -v '^# [WI]' "$scratch/all"
} >"$scratch/whole"
mv "$scratch/whole" "$lock"
