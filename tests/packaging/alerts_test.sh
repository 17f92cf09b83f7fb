#!/bin/sh
# usage: alerts_test.sh SOURCE CACHE - Prometheus itself reads the alert rules, and they fire when they should.
set -eu
source=$1
cache=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/chroot.sh"
need_root
"$source/packaging/install-deps" "$here/deps.txt"
place=$(mktemp -d)
root=
finish() { end_root; rm -rf --one-file-system "$place"; }
trap finish EXIT
trap 'exit 130' INT TERM
make_root "$cache" "$place/root"
inside apt-get update -q >"$place/apt.log" 2>&1 || { tail "$place/apt.log"; exit 1; }
install_inside --no-install-recommends prometheus
cp "$source/packaging/prometheus/runwarden.rules.yml" "$here/alerts_cases.yml" "$root/"
inside promtool check rules /runwarden.rules.yml
inside promtool test rules /alerts_cases.yml
