#!/bin/bash
# usage: completion_test.sh SOURCE RUNWARDEN - what bash offers after each beginning.
set -eu
PATH=$(dirname "$2"):$PATH
source "$1/packaging/completion/runwarden"
offers() {  # offers LINE EXPECTED: the words of the line, the last one begun
  read -ra COMP_WORDS <<<"$1"
  [[ $1 == *' ' ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _runwarden
  local got="${COMPREPLY[*]}"
  for word in $2; do
    [[ " $got " == *" $word "* ]] || { echo "FAILED: after '$1' there is '$got', without '$word'"; exit 1; }
  done
}
offers 'runwarden ' 'serve check keys detectors analyze'
offers 'runwarden ser' 'serve'
[[ ${#COMPREPLY[@]} == 1 ]]
offers 'runwarden keys ' 'create list revoke rotate'
offers 'runwarden store ' 'accept-clock'
offers 'runwarden keys create --' '--tenant --name --scopes --expires --config'
offers 'runwarden --config /etc/x keys li' 'list'
offers 'runwarden analyze --fail' '--fail-on'
offers 'runwarden keys create --scopes i' 'ingest ingest,read ingest,read,manage'
offers 'runwarden keys create --scopes m' 'manage'
offers 'runwarden analyze --format ' 'text json junit sarif'
offers 'runwarden replay --fail-on l' 'lost'
[[ ${#COMPREPLY[@]} == 1 ]]
cd "$1"
offers 'runwarden check --config READ' 'README.md'
offers 'runwarden detectors inspect READ' 'README.md'
