#!/bin/sh
# usage: symbols_mutation.sh - passes when symbols.sh takes a library that shows its entry alone, and goes red on one that shows more, one
# whose entry has another name, and one that shows nothing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
library() {
  echo "$2" | gcc -x c -shared -fPIC -nostdlib - -o "$place/$1.so"
}
goes_red() {
  if "$here/symbols.sh" "$place/$1.so" > "$place/said"; then
    echo "$1: taken"
    exit 1
  fi
  grep -q -- "$2" "$place/said" || { cat "$place/said"; exit 1; }
}
library good 'const int runwarden_entry_v1 = 1; __attribute__((visibility("hidden"))) int helper(void) { return 1; }'
library talkative 'const int runwarden_entry_v1 = 1; int helper(void) { return 1; }'
library other_name 'const int runwarden_entry_v2 = 1;'
library silent '__attribute__((visibility("hidden"))) int runwarden_entry_v1 = 1;'
"$here/symbols.sh" "$place/good.so"
goes_red talkative helper
goes_red other_name runwarden_entry_v2
goes_red silent "exports: $"
