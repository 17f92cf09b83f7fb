#!/bin/sh
# usage: packages_test.sh SOURCE CACHE
# The packages on a bare Debian 12, in a chroot: built twice and equal, lintian content, installed, run under the unit's limits,
# autopkgtests, upgraded, detectors taken away and put back, purged.
#
#   RUNWARDEN_TEST_DEBS=FOLDER   takes packages that were built before, instead of building them (twice)
set -eu
source=$1
cache=$2
here=$(cd "$(dirname "$0")" && pwd)
. "$here/chroot.sh"
need_root
"$source/packaging/install-deps" "$source/packaging/package-deps.txt" "$here/deps.txt"

place=$(mktemp -d)
service=
root=
finish() {
  [ -z "$service" ] || kill "$service" 2>/dev/null || true
  end_root
  rm -rf --one-file-system "$place"
}
trap finish EXIT
trap 'exit 130' INT TERM
step() { echo "== $*"; }
fail() { echo "FAILED: $*"; [ ! -f "$place/service.log" ] || tail -n 20 "$place/service.log"; exit 1; }

if [ -n "${RUNWARDEN_TEST_DEBS:-}" ]; then
  debs=$RUNWARDEN_TEST_DEBS
else
  debs=$place/first
  step "two builds of one commit are equal"
  before=$(git -C "$source" status --porcelain --ignored)
  "$source/packaging/build-deb" "$place/first"
  CCACHE_DISABLE=1 "$source/packaging/build-deb" "$place/second"
  [ "$(git -C "$source" status --porcelain --ignored)" = "$before" ] || fail "building left something in the clone"
  [ -z "$(find "$place/first" -mindepth 1 -type d)" ] || fail "building left a folder beside the packages"
  for file in "$place/first"/*.deb "$place/first"/*.dsc "$place/first"/*.tar.* "$place/first"/*.spdx.json; do
    cmp "$file" "$place/second/$(basename "$file")" || fail "$(basename "$file") differs between two builds"
  done
  jq -e '.spdxVersion == "SPDX-2.3" and ([.packages[].packageFileName // empty | select(endswith(".deb"))] | length == 4)' "$debs"/*.spdx.json >/dev/null ||
    fail "the bill of materials"
fi
[ "$(ls "$debs"/*.deb | wc -l)" = 4 ] || fail "expected four packages: $(ls "$debs")"

step "lintian"
lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$debs"/*.changes

step "apt install"
make_root "$cache" "$place/root"
inside apt-get update -q >"$place/apt.log" 2>&1 || { tail "$place/apt.log"; exit 1; }
mkdir "$root/debs"
cp "$debs"/runwarden_*.deb "$debs"/runwarden-detectors_*.deb "$root/debs/"
install_inside /debs/runwarden_*.deb /debs/runwarden-detectors_*.deb
url=http://127.0.0.1:8080
curl -s -o /dev/null "$url/healthz" && fail "something listens on $url already: this test needs that address"
inside dpkg --verify runwarden runwarden-detectors
[ "$(inside stat -c '%U:%G %a' /var/lib/runwarden)" = "runwarden:runwarden 750" ] || fail "the state folder"
[ "$(inside stat -c '%U:%G %a' /etc/runwarden/runwarden.yaml)" = "root:root 644" ] || fail "the configuration"
[ "$(inside sh -c 'ls /etc/runwarden/detectors.d | wc -l')" = 5 ] || fail "five drop-ins"
[ -L "$root/etc/systemd/system/multi-user.target.wants/runwarden.service" ] || fail "the service is not enabled"
inside systemd-analyze verify --man=no runwarden.service || fail "systemd finds fault with the unit"
inside runwarden check | tee "$place/check"
[ "$(grep -c '\.so' "$place/check")" = 5 ] || [ "$(grep -cE 'false_success|expensive_loop|schema_ghost|missing_tool_call|context_overflow' "$place/check")" -ge 5 ] || fail "check"
MANPATH="$root/usr/share/man"; export MANPATH
for page in man1/runwarden.1 man5/runwarden.yaml.5; do [ -f "$MANPATH/$page.gz" ] || fail "$page"; done
for page in "$source"/packaging/doc/*.md; do
  cmp "$page" "$root/usr/share/doc/runwarden/$(basename "$page")" || fail "the operator's guide lacks $(basename "$page")"
done

step "the service under its unit's limits"
install_inside python3 libseccomp2 curl jq util-linux
cp "$here/run_as_unit.py" "$root/run_as_unit.py"
unit=/lib/systemd/system/runwarden.service
probe() { inside python3 /run_as_unit.py "$unit" --probe "$@" 2>&1; }
# The limits hold: what they forbid fails.
[ "$(probe id -un)" = runwarden ] || fail "the user: $(probe id)"
probe touch /etc/runwarden/x | grep -q 'Read-only file system' || fail "/etc can be written"
probe touch /usr/x | grep -q 'Read-only file system' || fail "/usr can be written"
probe touch /var/lib/runwarden/x || fail "the state folder cannot be written"
probe ls /root | grep -q 'Permission denied' || fail "/root can be seen"
probe unshare -n true | grep -q 'Operation not permitted' || fail "namespaces can be made"
probe python3 -c 'import mmap; mmap.mmap(-1, 4096, prot=7)' | grep -q 'PermissionError' || fail "memory can be written and run"
probe python3 -c 'import socket; socket.socket(socket.AF_NETLINK)' | grep -qE 'PermissionError|OSError' || fail "any socket can be made"
probe python3 -c 'bytearray(4 << 30)' | grep -q MemoryError || fail "memory has no limit"
probe grep -E '^(CapBnd|CapEff|CapPrm|NoNewPrivs|Seccomp):' /proc/self/status >"$place/status"
grep -qE 'CapBnd:\s0+$' "$place/status" && grep -qE 'CapEff:\s0+$' "$place/status" && grep -qE 'NoNewPrivs:\s1' "$place/status" &&
  grep -qE 'Seccomp:\s2' "$place/status" || fail "capabilities: $(cat "$place/status")"

start() {
  chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin python3 /run_as_unit.py "$unit" >>"$place/service.log" 2>&1 &
  service=$!
  curl -sS -f -o "$place/ready" --retry 60 --retry-connrefused --retry-delay 1 --retry-max-time 60 "$url/readyz" || fail "the service is not ready"
}
stop() {
  kill "$service"
  wait "$service" || fail "the service ended with $?"
  service=
}
start
# The threads that accept and commit keep the unit's priority, those that judge give it back.
nices=$(for task in /proc/"$service"/task/*; do echo "$(cat "$task/comm") $(sed 's/.*) //' "$task/stat" | cut -d' ' -f17)"; done)
echo "$nices" | grep -qx 'http -5' && echo "$nices" | grep -qx 'work-0 0' || fail "priorities: $nices"
key=$(inside runuser -u runwarden -- runwarden keys create --tenant acme --scopes ingest,read)
refund='{"runId": "refund-1", "userRequestText": "Refund order 8842", "success": true, "outcomeSummary": "Your refund has been processed.",
  "metadata": {"model": "gpt-4o", "costUsd": 0.02, "inputTokens": 1200},
  "steps": [{"stepKind": "tool", "stepName": "issue_refund", "status": "failed", "errorMessage": "502 Bad Gateway"}]}'
post() { curl -sS -f "$url/v1/ingest/runs" -H "Authorization: Bearer $key" -H 'Content-Type: application/json' --data-binary "$1"; }
read_back() { curl -sS -f "$url/v1/runs/$1" -H "Authorization: Bearer $key"; }
one_failure() { jq -e '.failures | length == 1 and .[0].detectorKey == "false_success" and .[0].suspicionScore == 95' >/dev/null; }
post "$refund" | one_failure || fail "the refund run"
# A whole large batch, a reload and many connections pass within the limits too.
seq 20000 | sed 's/.*/{"runId": "batch-&", "userRequestText": "Say hello to customer &", "outcomeSummary": "Hello, &!"}/' >"$place/batch"
curl -sS -f "$url/v1/ingest/runs" -H "Authorization: Bearer $key" -H 'Content-Type: application/x-ndjson' --data-binary @"$place/batch" |
  jq -e '.accepted == 20000' >/dev/null || fail "a batch of 20,000 runs"
kill -HUP "$service"
for _ in $(seq 100); do grep -q '"reloaded"' "$place/service.log" && break; sleep 0.1; done
grep -q '"reloaded"' "$place/service.log" || fail "SIGHUP: not reloaded"
stop
start
read_back refund-1 | one_failure || fail "after a restart the run reads otherwise"

step "autopkgtest smoke, in a second service of its own"
stop
mkdir -p "$root/tests"
cp "$source/packaging/debian/tests/smoke" "$source/packaging/debian/tests/build-plugin" "$root/tests/"
inside /tests/smoke >"$place/smoke.log" 2>&1 || { tail -n 30 "$place/smoke.log"; fail "smoke"; }
step "autopkgtest build-plugin"
cp "$debs"/runwarden-sdk-dev_*.deb "$root/debs/"
install_inside /debs/runwarden-sdk-dev_*.deb
install_inside --no-install-recommends cmake g++ make pkg-config
inside /tests/build-plugin >"$place/plugin.log" 2>&1 || { tail -n 30 "$place/plugin.log"; fail "build-plugin"; }

step "upgrade keeps the data and what was edited"
# The next version: the same files, a default that is another.
bump() {
  dpkg-deb -R "$1" "$place/next"
  sed -i 's/^Version: .*/&+next1/' "$place/next/DEBIAN/control"
  for file in "$place/next"/etc/runwarden/runwarden.yaml "$place/next"/etc/runwarden/detectors.d/*.yaml; do
    [ -f "$file" ] && echo '# of the next version' >>"$file"
  done
  (cd "$place/next" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | xargs -0 md5sum >DEBIAN/md5sums)
  dpkg-deb --root-owner-group -b "$place/next" "$root/debs/$(basename "$1" .deb)+next1.deb" >/dev/null
  rm -rf "$place/next"
}
bump "$debs"/runwarden_1*.deb
bump "$debs"/runwarden-detectors_*.deb
sed -i 's/^  drain_timeout: 10s/  drain_timeout: 11s/' "$root/etc/runwarden/runwarden.yaml"
sed -i 's/^  repeats: 3/  repeats: 4/' "$root/etc/runwarden/detectors.d/expensive_loop.yaml"
install_inside /debs/runwarden_*+next1.deb /debs/runwarden-detectors_*+next1.deb
inside dpkg-query -W -f '${Version}\n' runwarden | grep -q '+next1' || fail "not upgraded"
grep -q 'drain_timeout: 11s' "$root/etc/runwarden/runwarden.yaml" || fail "an edited conffile was replaced"
grep -q 'repeats: 4' "$root/etc/runwarden/detectors.d/expensive_loop.yaml" || fail "an edited drop-in was replaced"
grep -q 'of the next version' "$root/etc/runwarden/detectors.d/false_success.yaml" || fail "a drop-in nobody edited was not replaced"
start
read_back refund-1 | one_failure || fail "after the upgrade the run is not there"
stop

step "detectors go and come back"
inside apt-get remove -y -q runwarden-detectors >"$place/apt.log" 2>&1 || { tail "$place/apt.log"; fail "remove"; }
inside runwarden check >"$place/check" 2>&1 || fail "without its detectors the service would not start: $(cat "$place/check")"
install_inside /debs/runwarden-detectors_*+next1.deb
grep -q 'repeats: 4' "$root/etc/runwarden/detectors.d/expensive_loop.yaml" || fail "what was edited is gone"
[ "$(inside sh -c 'cd /etc/runwarden/detectors.d && ls *.yaml')" = "$(printf '%s\n' context_overflow.yaml expensive_loop.yaml false_success.yaml missing_tool_call.yaml schema_ghost.yaml)" ] ||
  fail "drop-ins: $(ls "$root/etc/runwarden/detectors.d")"
inside runwarden check >"$place/check" 2>&1 || fail "check: $(cat "$place/check")"

step "purge leaves nothing, and names copies of the records"
inside apt-get remove -y -q 'runwarden*' >"$place/apt.log" 2>&1 || { tail "$place/apt.log"; fail "remove"; }
[ -f "$root/var/lib/runwarden/data.mdb" ] || fail "removing took the data along"
mkdir "$root/var/lib/runwarden.old"
inside apt-get purge -y -q 'runwarden*' >"$place/apt.log" 2>&1 || { tail "$place/apt.log"; fail "purge"; }
grep -q '/var/lib/runwarden.old' "$place/apt.log" || fail "purging does not name a second copy of the records"
rmdir "$root/var/lib/runwarden.old" || fail "purging took a copy along that somebody keeps"
rm -rf "$root/debs" "$root/tests" "$root/run_as_unit.py"
left=$(find "$root" -xdev \( -path "$root/proc" -o -path "$root/dev" -o -path "$root/tmp" \) -prune -o -iname '*runwarden*' -print)
[ -z "$left" ] || fail "purging left: $left"
owned=$(find "$root" -xdev -user "$(inside id -u runwarden)" ! -path "$root/proc/*")
[ -z "$owned" ] || fail "purging left files of the user: $owned"
echo "all well"
