#!/bin/sh
# usage: mutate.sh INCLUDE_FOLDER BASELINE.abi SED_EXPRESSION - breaks a copy of the header; passes when layout or baseline go red.
set -u
here=$(cd "$(dirname "$0")" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/runwarden"
sed "$3" "$1/runwarden/detector.h" > "$copy/runwarden/detector.h"
if cmp -s "$1/runwarden/detector.h" "$copy/runwarden/detector.h"; then
  echo "the mutation changed nothing: $3"
  exit 1
fi
if ! gcc -std=c11 -Werror -fsyntax-only -I"$copy" "$here/layout.c" 2> /dev/null; then
  echo "layout.c saw it"
  exit 0
fi
if ! "$here/compare.sh" 0 "$copy" "$2" > /dev/null 2>&1; then
  echo "the baseline saw it"
  exit 0
fi
echo "nothing saw it: $3"
exit 1
