#!/bin/sh
# usage: consume.sh CMAKE BUILD_FOLDER RUNWARDEN [BREAK] - does what a detector author does: installs the SDK, copies the template, builds it against
# the installed files alone, runs its test, and, given the program, has it inspected and tested by the host.
set -eu
umask 002  # as many desktops have it
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
# What needs a newer minor needs it in the test, too.
cp -r "$place/mine" "$place/newer" && rm -r "$place/newer/build"
sed -i 's/TARGET_MINOR 0/TARGET_MINOR 2/' "$place/newer/CMakeLists.txt"
sed -i 's/\.score(score_)/.score(score_).confidence(0.9)/' "$place/newer/src/pii_leak.cpp"
sed -i 's/findings\[0\]\.score == 75/findings[0].confidence == 0.9/' "$place/newer/tests/pii_leak_test.cpp"
grep -q 'confidence(0.9)' "$place/newer/src/pii_leak.cpp" && grep -q 'confidence == 0.9' "$place/newer/tests/pii_leak_test.cpp"
"$cmake" -S "$place/newer" -B "$place/newer/build" -DCMAKE_PREFIX_PATH="$place/prefix" -DCMAKE_BUILD_TYPE=Debug > "$place/log" || { cat "$place/log"; exit 1; }
"$cmake" --build "$place/newer/build" > "$place/log" 2>&1 || { cat "$place/log"; exit 1; }
"$place/newer/build/pii_leak_test"
PKG_CONFIG_PATH="$place/prefix/share/pkgconfig" pkg-config --exact-version=1.2 runwarden-sdk
[ "$(PKG_CONFIG_PATH="$place/prefix/share/pkgconfig" pkg-config --variable=plugindir runwarden-sdk | sed 's|/share/pkgconfig/../..||')" = "$place/prefix/lib/runwarden/detectors" ]
if [ -n "$runwarden" ]; then
  "$runwarden" detectors inspect "$place/mine/build/pii_leak.so"
  "$runwarden" detectors test "$place/mine/build/pii_leak.so" "$place/mine/run.json" > "$place/said"
  cat "$place/said"
  grep -q "nobody gave it" "$place/said"
  # What its package installs enables it, with the settings that its schema knows.
  read -r files folder < "$place/mine/debian/install"
  [ "$folder" = etc/runwarden/detectors.d ]
  printf 'store: {path: data}\ndetectors: {search_path: [mine/build], include: ["mine/%s"]}\n' "$files" > "$place/runwarden.yaml"
  chmod go-w "$place/mine/build" "$place/mine/build/pii_leak.so"
  "$runwarden" analyze --config "$place/runwarden.yaml" "$place/mine/run.json" | grep -q '"detectorKey":"pii_leak"'
fi
