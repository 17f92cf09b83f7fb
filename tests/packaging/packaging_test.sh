#!/bin/sh
# usage: packaging_test.sh SOURCE RUNWARDEN BUILD - what stands in two places says the same in both.
set -eu
source=$1
runwarden=$2
build=$3
debian=$source/packaging/debian
fail() { echo "FAILED: $*"; exit 1; }

# The ABI that the packages promise is the SDK's.
abi=$(sed -n 's/^set(RUNWARDEN_SDK_VERSION \(.*\))/\1/p' "$source/plugin-sdk/CMakeLists.txt")
grep -qxF "Provides: runwarden-detector-abi-1 (= $abi)" "$debian/control" || fail "debian/control does not provide the detector ABI $abi"
# The version is the program's.
[ "$("$runwarden" --version)" = "runwarden $(sed -n '1s/.*(\(.*\)).*/\1/p' "$debian/changelog")" ] || fail "debian/changelog: another version than $("$runwarden" --version)"
# Each drop-in and its library are in runwarden-detectors, and go and come with it.
for file in "$source"/config/detectors.d/*.yaml; do
  key=$(basename "$file" .yaml)
  for place in runwarden-detectors.install runwarden-detectors.preinst runwarden-detectors.postrm; do
    grep -qw "$key" "$debian/$place" || fail "debian/$place does not know $key"
  done
done
# What the build needs is installed by install-deps too.
for package in $(sed -n '/^Build-Depends:/,/^[S-Z]/p' "$debian/control" | grep -oE '^(Build-Depends:)? +[a-z0-9][a-z0-9.+-]+' | sed 's/.* //' | grep -vE '^(debhelper-compat|dh-)'); do
  grep -qx "$package" "$source/packaging/build-deps.txt" || fail "packaging/build-deps.txt lacks $package"
done
# The manual page has each command and option that the program has; the one of the configuration each key.
page=$build/packaging/runwarden.1
for word in $("$runwarden" --help | awk '/^Subcommands:$/ {on = 1; next} on && /^  [a-z]/ {print $1; next} on {exit}'); do
  grep -qF ".SS \"runwarden $(echo "$word" | sed 's/-/\\-/g')" "$page" || fail "runwarden.1 lacks $word"
done
for key in server.address limits.max_connections detectors.quarantine.failures log.format retention.idempotency_keys; do
  grep -qF "$key" "$build/packaging/runwarden.yaml.5" || fail "runwarden.yaml.5 lacks $key"
done
# Both say all that a reload puts in force.
sed -n '/^.SH SIGNALS/,$p' "$page" | grep -q 'redaction rules' && grep -q 'redaction rules' "$build/packaging/runwarden.yaml.5" || fail "a manual page leaves redaction out of reload"
# Both are without fault for those who print them.
if command -v groff >/dev/null; then
  for page in runwarden.1 runwarden.yaml.5; do
    said=$(groff -man -Tutf8 -ww -Wbreak -z "$build/packaging/$page" 2>&1) || true
    [ -z "$said" ] || fail "$page: $said"
  done
fi
# Purging deletes the store, names copies of it, and touches nothing else.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/lib/runwarden" "$place/lib/runwarden.old" "$place/lib/other"
sed "s|/var/lib/|$place/lib/|g" "$debian/runwarden.postrm" >"$place/postrm"
! grep -q /var/lib "$place/postrm" || fail "debian/runwarden.postrm: a path that this test does not move"
sh "$place/postrm" remove 2>"$place/said" && [ -d "$place/lib/runwarden" ] || fail "removing took the records along"
sh "$place/postrm" purge 2>"$place/said" || fail "purge"
[ "$(ls "$place/lib" | tr '\n' ' ')" = "other runwarden.old " ] || fail "purging left $(ls "$place/lib")"
grep -qF "$place/lib/runwarden.old" "$place/said" || fail "purging does not name a second copy of the records"
rm -rf "$place"
# Each file that is installed is in a package, or said not to be: a build of the packages would end there, minutes later.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
DESTDIR=$place cmake --install "$build" --prefix /usr >"$place/log" || { cat "$place/log"; fail "cmake --install"; }
mkdir -p "$place/etc/runwarden"
mv "$place/usr/share/runwarden/config/runwarden.yaml" "$place/usr/share/runwarden/config/detectors.d" "$place/etc/runwarden/"
(cd "$place" && find usr etc -type f ! -name .gitignore) | while read -r file; do
  found=no
  for pattern in $(cat "$debian"/*.install "$debian/not-installed"); do
    # shellcheck disable=SC2254
    case $file in $pattern|$pattern/*) found=yes ;; esac
  done
  [ "$found" = yes ] || fail "$file is in no package: name it in debian/*.install or debian/not-installed"
done
