#!/bin/sh
# usage: symbols.sh LIBRARY... - fails for a library that shows anything but its entry.
set -u
status=0
for library in "$@"; do
  shown=$(nm -D --defined-only "$library" | awk '{print $NF}')
  if [ "$shown" != runwarden_entry_v1 ]; then
    echo "$library exports: $shown"
    status=1
  fi
done
exit $status
