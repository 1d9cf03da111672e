#!/bin/bash
# Runs the README's commands on bare Debians, as a newcomer with nothing but make and python3-venv.
# Needs root, git and debootstrap; takes this machine's settings of apt and pip along. By hand only.
# Usage: tools/newcomer.sh [bookworm trixie]
set -euo pipefail
cd "$(dirname "$0")/.."

# Where this machine gets Debian's packages; empty on another system, and debootstrap knows one.
mirror() {
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{sources,list} 2>/dev/null \
        | awk '/^(URIs:|deb) / {for (i = 2; i <= NF; i++) if ($i ~ /:\/\/.*\/debian\/?$/) {print $i; exit}}'
}

# The commands of the README's first block.
commands() {
    awk '/^```sh$/ {inside = 1; next} /^```$/ && inside {exit} inside {sub(/ +#.*/, ""); print}' README.md
}

bare_debian() {
    local suite=$1 root=$2
    eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
    http_proxy=${http_proxy:-} debootstrap --variant=minbase "$suite" "$root" $(mirror) >"$root.log"
    for file in $(grep -rls '^Acquire' /etc/apt/apt.conf /etc/apt/apt.conf.d) /etc/apt/auth.conf.d \
                /etc/pip.conf "$HOME/.config/pip" "$HOME/.pip" /etc/resolv.conf /etc/hosts; do
        [ ! -e "$file" ] || cp -rL --parents "$file" "$root"
    done
}

# Runs a command line within; what is mounted and started there ends with it.
within() {
    local root=$1 keep name
    keep=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive)
    for name in $(compgen -e | grep -iE '^(pip_|ssl_cert_|(http|https|no|all)_proxy$)'); do
        keep+=("$name=${!name}")
    done
    unshare --mount --pid --fork --kill-child bash -euc '
        mount -t proc proc "$0/proc"
        mount --rbind /dev "$0/dev"
        exec chroot "$0" /usr/bin/env -i "${@:2}" sh -euc "$1"' "$root" "$2" "${keep[@]}"
}

# The least that a machine has, and the certificates that this one trusts.
furnish() {
    within "$1" 'apt-get update -qq && apt-get install -y -qq make python3-venv ca-certificates' \
        >>"$1.log" 2>&1
    cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
    git clone --quiet . "$1/root/mimegen"
}

newcomer() {
    local root=$2 line start
    bare_debian "$1" "$root"
    furnish "$root"
    commands | while read -r line; do
        start=$SECONDS
        within "$root" "cd /root/mimegen && $line" </dev/null
        echo "$1: $line: $((SECONDS - start)) s"
    done
}

[ $# -gt 0 ] || set -- bookworm trixie
for suite in "$@"; do
    root=$(mktemp -d "/var/tmp/newcomer-$suite.XXXXXX")
    chmod 755 "$root"
    newcomer "$suite" "$root"
    rm -rf "$root" "$root.log"
done
