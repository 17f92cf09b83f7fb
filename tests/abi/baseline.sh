#!/bin/sh
# usage: baseline.sh MINOR INCLUDE_FOLDER OUT.abi - writes the ABI of the probe library for a target minor.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
library=$(mktemp --suffix=.so)
trap 'rm -f "$library"' EXIT
gcc -std=c11 -g -O0 -fPIC -shared -fvisibility=hidden -DRW_TARGET_MINOR="$1" -I"$2" "$here/probe.c" -o "$library"
abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-architecture "$library" --out-file "$3"
sed -i 's/ path=.[^ ]*probe.c.//; s/\(<abi-instr [^>]*\) *path=.[^ >]*./\1/' "$3"
