#!/bin/bash
# usage: quickstart_test.sh SOURCE RUNWARDEN PLUGINS - quickstart with this build instead of its own, and the README's commands with
# nothing set but what quickstart says.
set -eu
source=$1
runwarden=$2
plugins=$3
place=$(mktemp -d)
quickstart=
stop() {
  [ -z "$quickstart" ] || { kill "$quickstart" 2>/dev/null || true; wait "$quickstart" || true; }
  quickstart=
}
trap 'stop; rm -rf "$place"' EXIT
fail() { echo "FAILED: $*"; cat "$place/out" "$place/err" 2>/dev/null || true; exit 1; }

# A clone whose dependencies are there and whose build is done.
mkdir -p "$place/clone/packaging" "$place/bin" "$place/folder"
cp "$source/packaging/quickstart" "$source/packaging/samples" "$place/clone/packaging/"
printf '#!/bin/sh\n' >"$place/clone/packaging/install-deps"
cat >"$place/bin/cmake" <<CMAKE
#!/bin/sh
[ "\$1" = --install ] || exit 0
mkdir -p "\$2/prefix/bin" "\$2/prefix/lib/runwarden" "\$2/prefix/share/runwarden"
ln -sfn '$runwarden' "\$2/prefix/bin/runwarden"
ln -sfn '$plugins' "\$2/prefix/lib/runwarden/detectors"
ln -sfn '$source/config' "\$2/prefix/share/runwarden/config"
CMAKE
chmod +x "$place/clone/packaging/install-deps" "$place/bin/cmake"
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
begin() {
  RUNWARDEN_PORT=$(free_port)
  export RUNWARDEN_PORT
  PATH=$place/bin:$PATH "$place/clone/packaging/quickstart" "$@" >"$place/out" 2>"$place/err" &
  quickstart=$!
}

# The first block of shell commands, or of another kind, after this heading, or the one after as many more.
block() {
  awk -v heading="$1" -v skip="${2:-0}" -v kind="${3:-sh}" '
    $0 == heading { on = 1; next }
    on && $0 == "```" kind { if (skip-- == 0) inside = 1; next }
    inside && /^```$/ { exit }
    inside' "$source/README.md"
}

begin
for _ in $(seq 1200); do
  grep -q '^export KEY=' "$place/err" && break
  kill -0 "$quickstart" 2>/dev/null || fail "quickstart ended"
  sleep 0.05
done
grep '^export ' "$place/err" >"$place/exports" || fail "quickstart exports nothing"
[ "$(sed 's/=.*//' "$place/exports" | tr '\n' ' ')" = "export URL export KEY " ] || fail "expected one line each that exports URL and KEY"
# The README shows the lines that quickstart prints.
sed -E "s|:$RUNWARDEN_PORT\$|:8080|; s/=rw_.*/=rw_.../" "$place/exports" | diff - <(block '## Two commands' 0 text) || fail "the README shows other lines"
# Both post the same run.
run_in() { sed -n "/-d '{\$/,/}'/p" | sed "1s/.*/{/; s/}'.*/}/" | jq -cS .; }
[ -n "$(run_in <"$source/packaging/quickstart")" ] || fail "quickstart posts no run that this test finds"
[ "$(run_in <"$source/packaging/quickstart")" = "$(block '## One run, one answer' | run_in)" ] || fail "the README posts another run than quickstart"
in_another_terminal() { (cd "$place/folder" && env -u URL -u KEY PATH="$PATH" bash -euc "$(cat "$place/exports"; echo; cat)"); }
block '## One run, one answer' | in_another_terminal >"$place/answer" || fail "One run, one answer"
jq -e '.failures[0].detectorKey == "false_success"' "$place/answer" >/dev/null || fail "the first curl found $(cat "$place/answer")"
block '## From events to the cause' | in_another_terminal >"$place/answer" || fail "From events to the cause"
jq -es '.[-1].suspectChange.ref == "9f3c2d1"' "$place/answer" >/dev/null || fail "the investigation is $(cat "$place/answer")"
# The page stands where quickstart says, has the samples to show, and the printed command takes them and nothing else away.
. "$place/exports"
page=$(sed -n 's/^  page: *\([^ ]*\) .*/\1/p' "$place/err")
[ "$page" = "$URL/ui/" ] || fail "quickstart says that the page is at \"$page\""
curl -s -f "$page" | grep -q /ui/assets/main.js || fail "there is no page at $page"
runs() { curl -s -f "$URL/v1/runs?limit=1000&view=head" -H "Authorization: Bearer $KEY" | jq -r '.items[].runId'; }
[ "$(runs | grep -c '^sample-')" -ge 12 ] || fail "there are fewer than a dozen samples: $(runs)"
curl -s -f "$URL/v1/changes" -H "Authorization: Bearer $KEY" | jq -e '[.items[] | select(.summary // "" | startswith("Sample"))] | map(.kind) | unique == ["code", "policy", "runtime"]' >/dev/null ||
  fail "there are no sample changes and policies"
others=$(runs | grep -vc '^sample-')
sh -c "$(sed -n 's/^  \([^ ]*runwarden purge .*\)/\1/p' "$place/err")" >/dev/null 2>&1 || fail "the printed command that removes the samples"
[ "$(runs | grep -c '^sample-')" = 0 ] || fail "samples are left: $(runs)"
[ "$(runs | grep -vc '^sample-')" = "$others" ] || fail "more than the samples went: $(runs)"
stop

rm -rf "$place/clone/build"
begin --once
wait "$quickstart" || fail "quickstart --once"
quickstart=
! grep -q '^export ' "$place/err" || fail "quickstart --once says where a service is that has stopped"

# What is edited stays, and what is wrong is said before anything is built.
refused() {
  ! PATH=$place/bin:$PATH RUNWARDEN_PORT=$1 "$place/clone/packaging/quickstart" --once >"$place/out" 2>"$place/err" || fail "port $1 was accepted"
  grep -q "$2" "$place/err" || fail "port $1: no word of \"$2\""
  ! grep -q 'quickstart: building' "$place/err" || fail "port $1: it began to build"
}
echo "# edited" >>"$place/clone/build/quickstart/home/runwarden.yaml"
refused 99999 'from 1 to 65535, got "99999"'
refused x 'from 1 to 65535, got "x"'
python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(60)' >"$place/port" &
stranger=$!
for _ in $(seq 200); do [ ! -s "$place/port" ] || break; sleep 0.05; done
refused "$(cat "$place/port")" 'another port: RUNWARDEN_PORT='
kill "$stranger"; wait "$stranger" 2>/dev/null || true
begin --once
wait "$quickstart" || fail "quickstart --once after the edit"
quickstart=
tail -n 1 "$place/clone/build/quickstart/home/runwarden.yaml" | grep -q '^# edited$' || fail "the configuration was written anew"
