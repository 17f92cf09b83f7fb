#!/bin/sh
# usage: run.sh SOURCE FOLDER - the linters have nothing to say of config/openapi.json, and what clients write compiles against the types
# that two generators make of it. Needs Node.js 20.19 or later with npm and a package registry.
set -eu
source=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)

skip() { echo "SKIPPED: $1" >&2; exit 77; }
command -v node >/dev/null || skip "there is no node; install Node.js 20.19 or later"
command -v npm >/dev/null || skip "there is no npm; install it beside node"
node -e 'const [major, minor] = process.versions.node.split(".").map(Number); process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)' ||
  skip "node is $(node --version); this needs 20.19 or later"

mkdir -p "$folder"
cd "$folder"
rm -rf generated ./*.ts
cp "$here"/package.json "$here"/package-lock.json "$here"/.npmrc "$here"/.spectral.yaml "$here"/redocly.yaml "$here"/tsconfig.json "$here"/*.ts .
cp "$source/config/openapi.json" .
grep -q '"resolved"' package-lock.json && { echo "package-lock.json names a registry; see .npmrc" >&2; exit 1; }
npm ci --silent
PATH=$folder/node_modules/.bin:$PATH
export PATH REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

spectral lint --fail-severity=hint openapi.json
redocly lint --format=json openapi.json >redocly.json 2>redocly.err || { cat redocly.err redocly.json; exit 1; }
node -e '
  const {totals, problems} = JSON.parse(require("fs").readFileSync("redocly.json", "utf8"));
  for (const one of problems) console.error(`redocly: ${one.ruleId}: ${one.message} ${one.location?.[0]?.pointer ?? ""}`);
  process.exit(totals.errors + totals.warnings === 0 ? 0 : 1);
'
openapi-typescript openapi.json -o generated/openapi_typescript.ts
openapi-ts -i openapi.json -o generated/hey_api --no-log-file
for types in openapi_typescript hey_api; do
  sed "s,@TYPES@,./$types," "$here/uses.ts.in" >"uses_of_$types.ts"
  node "$here/readme_calls.js" "$source/README.md" "./$types" >"readme_of_$types.ts"
done
tsc --project tsconfig.json
echo "linted, generated and compiled"
