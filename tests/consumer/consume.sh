#!/bin/sh
# usage: consume.sh CMAKE BUILD_FOLDER RUNWARDEN [BREAK] - does what a detector author does: installs the SDK, copies the template, builds it against
# the installed files alone, runs its test, and, given the program, has it inspected and tested by the host.
set -eu
cmake=$1
build=$2
runwarden=${3:-}  # empty: what the host says is not looked at
break=${4:-}      # a command that breaks the installed SDK, to show that this goes red
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
"$cmake" --install "$build" --component sdk --prefix "$place/prefix" > "$place/log" || { cat "$place/log"; exit 1; }
[ -z "$break" ] || (cd "$place/prefix" && sh -c "$break")
cp -r "$place/prefix/share/runwarden/template" "$place/mine"
"$cmake" -S "$place/mine" -B "$place/mine/build" -DCMAKE_PREFIX_PATH="$place/prefix" -DCMAKE_BUILD_TYPE=Debug > "$place/log" || { cat "$place/log"; exit 1; }
"$cmake" --build "$place/mine/build" > "$place/log" 2>&1 || { cat "$place/log"; exit 1; }
"$place/mine/build/pii_leak_test"
shown=$(nm -D --defined-only "$place/mine/build/pii_leak.so" | awk '{print $NF}')
[ "$shown" = runwarden_entry_v1 ] || { echo "the plugin exports: $shown"; exit 1; }
PKG_CONFIG_PATH="$place/prefix/share/pkgconfig" pkg-config --exact-version=1.2 runwarden-sdk
[ "$(PKG_CONFIG_PATH="$place/prefix/share/pkgconfig" pkg-config --variable=plugindir runwarden-sdk | sed 's|/share/pkgconfig/../..||')" = "$place/prefix/lib/runwarden/detectors" ]
if [ -n "$runwarden" ]; then
  "$runwarden" detectors inspect "$place/mine/build/pii_leak.so"
  "$runwarden" detectors test "$place/mine/build/pii_leak.so" "$place/mine/run.json" > "$place/said"
  cat "$place/said"
  grep -q "nobody gave it" "$place/said"
fi
