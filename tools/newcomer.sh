#!/bin/bash
# Runs the README's commands on bare Debians, as a newcomer with nothing but make and python3-venv.
# Needs root, git and debootstrap; takes what is committed, and this machine's settings of apt, pip
# and PYTEST_ADDOPTS. By hand only; what fails leaves its log alone.
# Usage: tools/newcomer.sh [bookworm trixie]
set -euo pipefail
set -m  # else what runs in the background is deaf to Ctrl-C, which some tests send
cd "$(dirname "$0")/.."
root=
child=

# Where this machine gets Debian's packages; empty on another system, and debootstrap knows one.
mirror() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{sources,list} 2>/dev/null \
        | awk '/^(URIs:|deb) / {for (i = 2; i <= NF; i++) if ($i ~ /:\/\/.*\/debian\/?$/) {print $i; exit}}'
}

# The commands of the README's first block.
commands() {
    awk '/^```sh$/ {inside = 1; next} /^```$/ && inside {exit} inside {sub(/ +#.*/, ""); print}' README.md
}

# Runs a command whose processes and mounts nobody else sees and which end with it.
alone() {
    unshare --mount --pid --fork --kill-child --mount-proc "$@" &
    child=$!
    wait "$child"
    child=
}

bare_debian() {
    eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
    http_proxy=${http_proxy:-} alone debootstrap --variant=minbase "$1" "$root" $(mirror) \
        >"$root.log"
    for file in $(grep -rls '^Acquire' /etc/apt/apt.conf /etc/apt/apt.conf.d) /etc/apt/auth.conf.d \
                /etc/pip.conf "$HOME/.config/pip" "$HOME/.pip" /etc/resolv.conf /etc/hosts; do
        [ ! -e "$file" ] || cp -rL --parents "$file" "$root"
    done
}

# Runs a command line in the bare Debian.
within() {
    local keep name
    keep=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
    for name in $(compgen -e | grep -iE '^(pytest_addopts$|pip_|ssl_cert_|(http|https|no|all)_proxy$)'); do
        keep+=("$name=${!name}")
    done
    alone bash -euc '
        mount -t proc proc "$0/proc"
        mount --rbind /dev "$0/dev"
        exec chroot "$0" /usr/bin/env -i "${@:2}" sh -euc "$1"' "$root" "$1" "${keep[@]}"
}

# The least that a machine has, and the certificates that this one trusts.
furnish() {
    within 'apt-get update -qq && apt-get install -y -qq make python3-venv ca-certificates' \
        >>"$root.log" 2>&1
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    git clone --quiet . "$root/root/mimegen"
}

newcomer() {
    local lines line start
    root=$(mktemp -d "/var/tmp/newcomer-$1.XXXXXX")
    chmod 755 "$root"
    bare_debian "$1"
    furnish
    mapfile -t lines < <(commands)
    for line in "${lines[@]:?the README has no commands}"; do
        start=$SECONDS
        within "cd /root/mimegen && $line"
        echo "$1: $line: $((SECONDS - start)) s"
    done
    rm "$root.log"
    clean_up
}

clean_up() {
    [ -z "$child" ] || { pkill -KILL -P "$child" && wait "$child"; } 2>/dev/null || true
    [ -n "$root" ] || return 0
    rm -rf --one-file-system "$root"
    [ ! -e "$root.log" ] || echo "Not run to the end; its log: $root.log" >&2
    root=
}

trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
[ $# -gt 0 ] || set -- bookworm trixie
for suite in "$@"; do
    newcomer "$suite"
done
