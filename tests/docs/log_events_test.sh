#!/bin/sh
# usage: log_events_test.sh SOURCE - check_log_events.py finds nothing wrong with this tree, and finds each fault that is put into a copy.
set -eu
source=$1
checker=check_log_events.py
. "$(dirname "$0")/checker.sh"

fresh() {
  rm -rf "$place/tree"
  mkdir -p "$place/tree/packaging/doc"
  cp -r "$source/host" "$place/tree/host"
  cp "$source/packaging/doc/operate.md" "$place/tree/packaging/doc/operate.md"
}
fresh; sed -i '/^| `store_full` /d' "$place/tree/packaging/doc/operate.md"
found 'packaging/doc/operate.md: the log event store_full is missing'
fresh; sed -i 's/^| `store_full` |/| `store_fulll` |/' "$place/tree/packaging/doc/operate.md"
found 'packaging/doc/operate.md: no source writes the log event store_fulll
packaging/doc/operate.md: the log event store_full is missing'
fresh; sed -i 's/^| `store_full` | error |/| `store_full` | warn |/' "$place/tree/packaging/doc/operate.md"
found 'packaging/doc/operate.md: store_full has the level error'
