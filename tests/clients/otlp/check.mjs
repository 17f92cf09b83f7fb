// usage: check.mjs RUNWARDEN PLUGIN_FOLDER [CLIENT...] - starts the service and a model that makes false claims, lets each client run with
// where its spans go said by its environment alone, and reads what the service makes of them: a tool that threw, and a claim that the
// refund is done, is a false_success whichever framework tells of it. RUNWARDEN_TEST_CAPTURES: a folder for what the clients sent.
import {execFileSync, spawn} from "node:child_process";
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {createServer, request as httpRequest} from "node:http";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {gunzipSync} from "node:zlib";
import {startFakeModel} from "./fake_model.mjs";

const [binary, plugins, ...only] = process.argv.slice(2);
const clients = [
  {name: "opentelemetry protobuf", script: "opentelemetry.mjs", environment: {OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf"}},
  {name: "opentelemetry json gzip", script: "opentelemetry.mjs", environment: {OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", OTEL_EXPORTER_OTLP_COMPRESSION: "gzip"}},
  {name: "ai sdk", script: "ai_sdk.mjs"},
  {name: "ai sdk legacy", script: "ai_sdk.mjs", environment: {RUNWARDEN_TEST_LEGACY: "1"}},
  {name: "openai agents openinference", script: "openai_agents.mjs"},
  {name: "langchain openinference", script: "langchain_openinference.mjs"},
  {name: "langsmith", script: "langsmith.mjs", environment: {LANGSMITH_TRACING: "true", LANGSMITH_TRACING_MODE: "otel"}},
  // Of a tool that threw, OpenLLMetry's spans hold no more than its class.
  {name: "openllmetry", script: "openllmetry.mjs", tool: "DynamicStructuredTool"},
  {name: "langfuse", script: "langfuse.mjs", environment: {LANGFUSE_PUBLIC_KEY: "pk-lf-1", LANGFUSE_SECRET_KEY: "sk-lf-1"}},
];
const kTimeoutMs = 60_000;

const folder = mkdtempSync(join(tmpdir(), "runwarden-clients-"));
const config = join(folder, "runwarden.yaml");
const keys = ["false_success", "expensive_loop", "schema_ghost", "missing_tool_call", "context_overflow"];
writeFileSync(
  config,
  `server: {address: "127.0.0.1:0"}
store: {path: data}
buffer: {otlp_root_grace: 1s}
detectors:
  search_path: ["${plugins}"]
  include: []
  enabled:
${keys.map((key) => `    - {key: ${key}, library: ${key}.so}`).join("\n")}
`,
);

function startService() {
  const service = spawn(binary, ["serve", "--config", config], {stdio: ["ignore", "ignore", "pipe"]});
  return new Promise((resolve, reject) => {
    let log = "";
    service.stderr.on("data", (part) => {
      log += part;
      const port = /"listening".*"port":(\d+)/.exec(log);
      if (port) resolve({service, url: `http://127.0.0.1:${port[1]}`});
    });
    service.on("exit", () => reject(new Error(`the service ended: ${log}`)));
  });
}

// Hands on what a client sends, and keeps a copy of each body, decoded.
function startRecorder(target) {
  const bodies = [];
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts);
      bodies.push({type: request.headers["content-type"], body: request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body});
      const onward = httpRequest(`${target}${request.url}`, {method: request.method, headers: {...request.headers, host: new URL(target).host}}, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      });
      onward.end(body);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve({url: `http://127.0.0.1:${server.address().port}`, bodies, close: () => server.close()}));
  });
}

function runClient(client, endpoint, key, model) {
  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${key}`,
    OTEL_SERVICE_NAME: client.name,
    OTEL_LOGS_EXPORTER: "none",
    OTEL_METRICS_EXPORTER: "none",
    OTEL_NODE_RESOURCE_DETECTORS: "env", // captures tell nothing of the machine they were made on
    TRACELOOP_BASE_URL: endpoint,
    TRACELOOP_API_KEY: key,
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: model,
    LANGSMITH_ENDPOINT: model,
    TRACELOOP_TELEMETRY: "false",
    ...client.environment,
  };
  const child = spawn(process.execPath, [client.script], {env: environment, stdio: ["ignore", "inherit", "inherit"]});
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), kTimeoutMs);
    child.on("exit", (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

async function resolvedRuns(url, key, tenant) {
  const end = Date.now() + kTimeoutMs;
  while (Date.now() < end) {
    const answer = await fetch(`${url}/v1/runs?source=otlp`, {headers: {authorization: `Bearer ${key}`}});
    const {items} = await answer.json();
    if (items.length > 0 && items.every((run) => run.state === "resolved")) return items;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no run of ${tenant} resolved`);
}

// What is wrong with the one run of a client.
function faultsOf(runs, tool = "issue_refund") {
  if (runs.length !== 1) return [`${runs.length} runs`];
  const [run] = runs;
  const faults = [];
  const expect = (holds, what) => holds || faults.push(what);
  const tools = run.steps.filter((step) => step.stepKind === "tool");
  expect(run.failures.some((failure) => failure.detectorKey === "false_success"), "no false_success");
  expect(run.userRequestText === "Refund order 1234", `userRequestText ${JSON.stringify(run.userRequestText)}`);
  expect(run.outcomeSummary === "Your refund has been processed.", `outcomeSummary ${JSON.stringify(run.outcomeSummary)}`);
  expect(tools.length === 1 && tools[0].stepName === tool && tools[0].status === "failed", `tool steps ${JSON.stringify(tools)}`);
  expect(run.steps.length === 3, `${run.steps.length} steps`);
  expect(run.metadata.inputTokens === 311, `inputTokens ${run.metadata.inputTokens}`);
  expect(run.metadata.model?.startsWith("gpt-4o-mini"), `model ${run.metadata.model}`);
  return faults;
}

const {service, url} = await startService();
const model = await startFakeModel();
const recorder = await startRecorder(url);
let failed = 0;
for (const client of clients.filter(({name}) => only.length === 0 || only.includes(name))) {
  const tenant = client.name.replaceAll(" ", "-");
  const key = execFileSync(binary, ["keys", "create", "--tenant", tenant, "--scopes", "ingest,read", "--config", config], {stdio: ["ignore", "pipe", "ignore"]}).toString().trim();
  const before = recorder.bodies.length;
  const code = await runClient(client, `${recorder.url}/v1/ingest/otlp`, key, model.url);
  const bodies = recorder.bodies.slice(before);
  if (process.env.RUNWARDEN_TEST_CAPTURES) {
    mkdirSync(process.env.RUNWARDEN_TEST_CAPTURES, {recursive: true});
    bodies.forEach(({type, body}, i) => writeFileSync(join(process.env.RUNWARDEN_TEST_CAPTURES, `${tenant}-${i + 1}.${type.includes("json") ? "json" : "pb"}`), body));
  }
  let faults;
  try {
    const runs = await resolvedRuns(url, key, tenant);
    faults = faultsOf(runs, client.tool);
    if (faults.length > 0) console.log(JSON.stringify(runs, null, 1));
  } catch (error) {
    faults = [error.message];
  }
  if (code !== 0) faults.push(`it ended with ${code}`);
  failed += faults.length > 0 ? 1 : 0;
  console.log(`${faults.length === 0 ? "ok    " : "FAILED"} ${client.name} (${bodies.length} requests)${faults.length > 0 ? `: ${faults.join("; ")}` : ""}`);
}
recorder.close();
model.close();
service.removeAllListeners("exit");
service.kill("SIGTERM");
await new Promise((resolve) => service.on("exit", resolve));
rmSync(folder, {recursive: true});
process.exit(failed === 0 ? 0 : 1);
