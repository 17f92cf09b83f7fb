#!/usr/bin/env bash
# usage: action_test.sh SOURCE RUNWARDEN PLUGINS - what the GitHub action runs: its inputs, outputs and exit codes.
set -euo pipefail
source=$1
runwarden=$2
plugins=$3
action=$source/packaging/github-action
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() {
  echo "$1" >&2
  cat said >&2 2>/dev/null || true
  exit 1
}

mkdir bin 'more runs'
ln -s "$runwarden" bin/runwarden
cat >config.yaml <<END
detectors: {search_path: ["$plugins"], enabled: [{key: false_success}]}
END
cat >'more runs/bad.ndjson' <<'END'
{"runId":"r","userRequestText":"Refund order 1","steps":[{"stepKind":"tool","stepName":"issue_refund","status":"failed","errorMessage":"502"}],"outcomeSummary":"Your refund has been processed."}
END
echo '{"runId":"g"}' >good.json
echo '{"format":' >broken.json

# judge NAME=VALUE...: the exit code into $code, the outputs into the file `outputs`
judge() {
  : >outputs
  code=0
  env PATH="$folder/bin:$PATH" GITHUB_OUTPUT="$folder/outputs" JUDGE_CONFIG=config.yaml "$@" "$action/judge" >said 2>&1 || code=$?
}
expect() {
  [[ $code == "$1" ]] || fail "$2: exit $code instead of $1"
}

judge JUDGE_FILES='more*/*.ndjson'
expect 0 "it is advisory"
grep -q '^::warning::' said || fail "no warning"
! grep -q 'names no setting' said || fail "an input is taken for a setting"
grep -qx 'found=true' outputs || fail "found is not told"
grep -qx 'sarif=runwarden.sarif' outputs || fail "the file is not told"
grep -q '"ruleId":"false_success"' runwarden.sarif || fail "the result is missing"
grep -q '"uri":"more%20runs/bad.ndjson"' runwarden.sarif || fail "the file is not named relative to the clone"

judge JUDGE_FILES='more runs/bad.ndjson' JUDGE_BLOCK=true
expect 1 "block: true"
judge JUDGE_FILES='more runs/bad.ndjson' JUDGE_BLOCK=true JUDGE_FAIL_ON=100
expect 0 "below fail-on"
judge JUDGE_FILES=$'good.json\n\n' JUDGE_BLOCK=true JUDGE_SARIF=own.sarif
expect 0 "nothing is found"
grep -qx 'found=false' outputs || fail "found of a good run"
grep -qx 'sarif=own.sarif' outputs || fail "the file of a good run"
judge JUDGE_FILES=broken.json JUDGE_COMMAND=replay JUDGE_BLOCK=true
expect 1 "a bundle that cannot be read"

# Wrong use fails, advisory or not.
judge JUDGE_FILES=$'good.json\nnone*.json'
expect 2 "a pattern that fits nothing"
judge JUDGE_FILES=$'good.json\nmore runs/bad.ndjson'
expect 2 "lines beside a run"
judge JUDGE_FILES=''
expect 2 "no files"
judge JUDGE_FILES=good.json JUDGE_FAIL_ON=high
expect 2 "a score that is none"
judge JUDGE_FILES=good.json JUDGE_COMMAND=serve
expect 2 "another command"
judge JUDGE_FILES=good.json JUDGE_DEB='none_*.deb'
expect 2 "packages that are not there"
# shellcheck disable=SC2016
judge JUDGE_FILES='$(touch owned)'
[[ ! -e owned ]] || fail "an input was run as a command"

# Each input reaches the script, under the name that it reads, and none as text of a command.
while read -r input; do
  variable=JUDGE_$(tr a-z- A-Z_ <<<"$input")
  grep -qF "$variable: \${{ inputs.$input }}" "$action/action.yml" || fail "action.yml does not hand on $input"
  grep -qF "{$variable" "$action/judge" || fail "judge does not read $variable"
  grep -qE "^\| .*\`$input\`" "$action/README.md" || fail "README.md does not tell of $input"
done < <(sed -n '/^inputs:/,/^outputs:/s/^  \([a-z-]*\):$/\1/p' "$action/action.yml")
! sed -n '/run:/p' "$action/action.yml" | grep -q '{{' || fail "an input is part of a command"
echo fine
