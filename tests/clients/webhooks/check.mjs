// usage: check.mjs RUNWARDEN PLUGIN_FOLDER - starts the service and a receiver that verifies each message with the library `standardwebhooks`,
// before and during a rotation; a message that was changed is refused.
import {execFileSync, spawn} from "node:child_process";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {Webhook} from "standardwebhooks";

const [binary, plugins] = process.argv.slice(2);
const kTimeoutMs = 30_000;
const folder = mkdtempSync(join(tmpdir(), "runwarden-webhooks-"));
const config = join(folder, "runwarden.yaml");
writeFileSync(
  config,
  `server: {address: "127.0.0.1:0"}
store: {path: data}
webhooks: {allow: [127.0.0.1], allow_http: true}
detectors: {search_path: ["${plugins}"], include: [], enabled: [{key: false_success, library: false_success.so}]}
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

// Each message is handed to whoever waits for the next one.
function startReceiver() {
  const came = [];
  const waiting = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => (body += part));
    request.on("end", () => {
      response.writeHead(204).end();
      const message = {headers: request.headers, body};
      waiting.length > 0 ? waiting.shift()(message) : came.push(message);
    });
  });
  const next = () =>
    new Promise((resolve, reject) => {
      if (came.length > 0) return resolve(came.shift());
      const timer = setTimeout(() => reject(new Error("no message came")), kTimeoutMs);
      waiting.push((message) => (clearTimeout(timer), resolve(message)));
    });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve({server, port: server.address().port, next})));
}

function verified(secret, {headers, body}) {
  return new Webhook(secret).verify(body, headers);
}

function isRefused(secret, message) {
  try {
    verified(secret, message);
    return false;
  } catch {
    return true;
  }
}

function expect(holds, what) {
  if (!holds) throw new Error(what);
}

const cli = (...words) => execFileSync(binary, ["--config", config, ...words], {encoding: "utf8", stdio: ["ignore", "pipe", "ignore"]}).trim();
const key = cli("keys", "create", "--tenant", "acme", "--scopes", "ingest,read,manage").split("\n").find((line) => line.startsWith("rw_"));
const {service, url} = await startService();
const receiver = await startReceiver();
try {
  const post = async (path, body) => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: {authorization: `Bearer ${key}`, "content-type": "application/json"},
      body: JSON.stringify(body),
    });
    expect(answer.ok, `${path}: ${answer.status}`);
    return answer.json();
  };
  const added = await post("/v1/webhooks", {url: `http://127.0.0.1:${receiver.port}/hook`});
  const steps = [{stepKind: "tool", stepName: "issue_refund", status: "failed", errorMessage: "502 Bad Gateway"}];
  await post("/v1/ingest/runs", {success: true, userRequestText: "Refund order 8842", outcomeSummary: "Your refund has been processed.", steps});
  const first = await receiver.next();
  expect(verified(added.secret, first).type === "cluster.created", "the first message is of a new group");
  expect(isRefused(added.secret, {...first, body: first.body + " "}), "a body that was changed is refused");
  expect(isRefused(added.secret, {...first, headers: {...first.headers, "webhook-id": "msg_1"}}), "so is another id");

  const rotated = await post(`/v1/webhooks/${added.endpointId}/rotate`, {overlap: "1h"});
  await post(`/v1/webhooks/${added.endpointId}/test`, {});
  const second = await receiver.next();
  for (const secret of [added.secret, rotated.secret]) expect(verified(secret, second).type === "webhook.test", "both secrets sign");
  console.log("standardwebhooks verifies what the service signs");
} finally {
  receiver.server.close();
  receiver.server.closeAllConnections();
  service.removeAllListeners("exit");
  service.kill("SIGTERM");
  await new Promise((resolve) => service.on("exit", resolve));
  rmSync(folder, {recursive: true});
}
