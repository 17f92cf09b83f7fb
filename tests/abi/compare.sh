#!/bin/sh
# usage: compare.sh MINOR INCLUDE_FOLDER BASELINE.abi - fails when the ABI for that target minor is not the released one.
# No suppressions: the "inserted at end" kind hides real breaks.
set -eu
now=$(mktemp --suffix=.abi)
trap 'rm -f "$now"' EXIT
"$(dirname "$0")/baseline.sh" "$1" "$2" "$now"
abidiff --no-default-suppression "$3" "$now"
