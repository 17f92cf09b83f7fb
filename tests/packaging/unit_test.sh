#!/bin/sh
# usage: unit_test.sh SOURCE - the unit's sandbox as systemd scores it, and what has to stand in the unit.
set -eu
unit=$1/packaging/debian/runwarden.service
for line in Type=notify 'ExecStartPre=/usr/bin/runwarden check --config /etc/runwarden/runwarden.yaml' StateDirectory=runwarden \
  StateDirectoryMode=0750 User=runwarden WatchdogSec=60s Restart=always LimitNOFILE=65536; do
  grep -qxF "$line" "$unit" || { echo "$unit: no line $line"; exit 1; }
done
command -v systemd-analyze >/dev/null || { echo "skipped: no systemd-analyze here (apt install systemd)"; exit 77; }
systemd-analyze security --offline=true --threshold=15 --no-pager "$unit"
# The score would tell a unit without a sandbox.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
sed '/^SystemCall/d; /^Protect/d; /^Capability/d' "$unit" >"$place/runwarden.service"
if systemd-analyze security --offline=true --threshold=15 --no-pager "$place/runwarden.service" >/dev/null; then
  echo "a unit without half its sandbox passes too"; exit 1
fi
