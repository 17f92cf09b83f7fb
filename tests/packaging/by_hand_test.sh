#!/bin/bash
# usage: by_hand_test.sh SOURCE BUILD CMAKE - the commands of the operator's guide for an install by hand, with this build instead of another: the service
# runs on the configuration and the store that they make, finds what it should, and comes back when it is killed.
set -eu
umask 022
source=$1
build=$2
cmake=$3
place=$(mktemp -d)
loop=
stop() {
  [ -z "$loop" ] || { kill "$loop" 2>/dev/null || true; pkill -KILL -P "$loop" 2>/dev/null || true; wait "$loop" 2>/dev/null || true; }
  loop=
}
trap 'stop; rm -rf "$place"' EXIT
fail() { echo "FAILED: $*"; tail -n 20 "$place/said" "$place/log" 2>/dev/null || true; exit 1; }

# A clone whose dependencies are there and whose build is done, on a machine where everything lies in one folder.
mkdir -p "$place/clone/packaging" "$place/bin" "$place/home"
printf '#!/bin/sh\n' >"$place/clone/packaging/install-deps"
printf '#!/bin/sh\nexec "$@"\n' >"$place/bin/sudo"
cat >"$place/bin/cmake" <<CMAKE
#!/bin/sh
[ "\$1" = --install ] || exit 0
exec '$cmake' --install '$build' --prefix '$place/opt/runwarden' >/dev/null
CMAKE
chmod +x "$place/clone/packaging/install-deps" "$place/bin/sudo" "$place/bin/cmake"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export HOME=$place/home PATH=$place/bin:$PATH RUNWARDEN_SERVER__ADDRESS=127.0.0.1:$port

# The n-th block of shell commands under "## By hand".
block() {
  awk -v number="$1" '
    $0 == "## By hand" { on = 1; next }
    on && /^## / { exit }
    on && /^```sh$/ { inside = ++seen == number; next }
    /^```$/ { inside = 0 }
    inside' "$source/packaging/doc/install.md" | sed "s|/opt/runwarden|$place/opt/runwarden|g; s|127\.0\.0\.1:8080|127.0.0.1:$port|g"
}
[ -n "$(block 1)" ] && [ -n "$(block 2)" ] || fail "install.md lacks the commands"

cd "$place/clone"
block 1 >"$place/install"
bash -euc ". '$place/install' >&2; export -p" >"$place/variables" 2>"$place/said" || fail "the commands that install"
# shellcheck disable=SC1091
. "$place/variables"
[ "$URL" = "http://127.0.0.1:$port" ] && [ -n "$KEY" ] || fail "URL is \"$URL\", KEY is \"$KEY\""
[ -f "$HOME/runwarden/data/data.mdb" ] || fail "the store is not in the folder of the configuration"

bash -euc "$(block 2)" >>"$place/log" 2>&1 &
loop=$!
ready() { curl -sS -f -o /dev/null --retry 60 --retry-connrefused --retry-delay 1 --retry-max-time 60 "$URL/readyz" 2>>"$place/log" || fail "not ready"; }
ready
curl -sS -f "$URL/v1/ingest/runs" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' -d '{"runId": "by-hand", "userRequestText": "Refund order 8842",
  "success": true, "outcomeSummary": "Your refund has been processed.",
  "steps": [{"stepKind": "tool", "stepName": "issue_refund", "status": "failed", "errorMessage": "502 Bad Gateway"}]}' >"$place/said" || fail "the refund run"
jq -e '.failures[0].detectorKey == "false_success" and (.detectors | length == 5)' "$place/said" >/dev/null || fail "the answer"

first=$(pgrep -P "$loop") || fail "the service is not run by a loop"
kill -KILL "$first"
for _ in $(seq 200); do
  second=$(pgrep -P "$loop" -f serve || true)
  [ -z "$second" ] || [ "$second" = "$first" ] || break
  sleep 0.1
done
[ -n "$second" ] && [ "$second" != "$first" ] || fail "nobody restarted it"
ready
curl -sS -f -o /dev/null "$URL/v1/runs/by-hand" -H "Authorization: Bearer $KEY" || fail "what was acknowledged is gone"
kill -TERM "$second"
wait "$loop" || fail "the loop ended with $?"
loop=

# The same loop around a program that ends with exit code 1 once, as after a disk error, or at each start.
mkdir "$place/pretended"
printf '#!/bin/sh\n' >"$place/pretended/sleep"
cat >"$place/pretended/runwarden" <<'END'
#!/bin/sh
[ "$1" = serve ] || exit "$FOUND"
echo started >>"$STARTS"
[ "$(wc -l <"$STARTS")" -gt 1 ]
END
chmod +x "$place/pretended/sleep" "$place/pretended/runwarden"
starts() { STARTS=$place/starts.$1 FOUND=$1 PATH=$place/pretended:$PATH bash -euc "$(block 2)" >&2 && wc -l <"$place/starts.$1"; }
[ "$(starts 0)" = 2 ] || fail "what ended with exit code 1 is not started again"
[ "$(starts 1)" = 1 ] || fail "a refused start is repeated"
