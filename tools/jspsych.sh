#!/usr/bin/env bash
# Fetches jsPsych and the plugins that the study page needs, as the registry of npm has them, but for
# the last line, by which developers' tools would load a map from elsewhere. jspsych.css is not
# taken: it is 475 kB of fonts. Needs npm.
set -euo pipefail
page="$(cd "$(dirname "$0")/.." && pwd)/generator/mimegen/study/page/jspsych"
packages="jspsych@8.3.0 @jspsych/plugin-html-button-response@2.1.0 @jspsych/plugin-instructions@2.1.0"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$page"
cd "$work"
npm install --ignore-scripts --no-save --silent $packages
: > "$page/versions.txt"
for package in $packages; do
  name="${package%@*}"
  file="$(basename "$name").js"
  sed '/^\/\/# sourceMappingURL=/d' "node_modules/$name/dist/index.browser.min.js" > "$page/$file"
  echo "$package $(sha256sum "$page/$file" | cut -d' ' -f1)" >> "$page/versions.txt"
done
