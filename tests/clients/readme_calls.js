// usage: node readme_calls.js README.md TYPES - writes TypeScript that gives each JSON body of the README's commands the type of its endpoint.
import {readFileSync} from "node:fs";

const [readme, types] = process.argv.slice(2);
const text = readFileSync(readme, "utf8");
const section = (title) => text.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";

const calls = [];
const single = section("One run, one answer").match(/-d '(\{.*?\})'/s);
if (single) calls.push(["runs", single[1]]);
for (const [, kind, body] of section("From events to the cause").matchAll(/^post (\w+) '(\{.*?\})'$/gms)) calls.push([kind, body]);

const kinds = new Set(calls.map(([kind]) => kind));
for (const kind of ["runs", "events", "changes", "policies"]) {
  if (!kinds.has(kind)) throw new Error(`the README has no call of /v1/ingest/${kind} that this script finds`);
}
console.log(`import type {Bodies} from ${JSON.stringify(types)};`);
// A body as it stands there: of a literal, TypeScript also refuses members that the type does not know.
calls.forEach(([kind, body], i) => {
  JSON.parse(body);
  console.log(`export const call${i}: Bodies["${kind}"] = ${body};`);
});
