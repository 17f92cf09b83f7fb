#!/usr/bin/env python3
"""usage: proxies_test.py nginx|haproxy ROOT CERTIFICATE RUNWARDEN PLUGINS ABORTS

Runs one proxy (installed in the folder ROOT, configured by the shipped snippet but for its ports) before a real service, and speaks
to it as clients do: TLS 1.2 and 1.3, chunked and gzip bodies, many that hang up, and a service that is restarted behind it.
"""
import gzip
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # TLS 1.1, to see it refused
PROXY, ROOT, CERTIFICATE, RUNWARDEN, PLUGINS, ABORTS = *sys.argv[1:6], int(sys.argv[6])
NAME = "runwarden.example.com"
REFUND = {
    "userRequestText": "Refund order 8842", "success": True, "outcomeSummary": "Your refund has been processed.",
    "steps": [{"stepKind": "tool", "stepName": "issue_refund", "status": "failed", "errorMessage": "502 Bad Gateway"}],
}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def fail(text):
    raise AssertionError(f"{PROXY}: {text}")


class Service:
    """The real service, on a port that stays the same over its restarts."""

    def __init__(self, folder):
        self.folder, self.port, self.process = pathlib.Path(folder), free_port(), None
        (self.folder / "runwarden.yaml").write_text(
            f"server: {{address: \"127.0.0.1:{self.port}\", trusted_proxies: [127.0.0.1]}}\n"
            f"store: {{path: data}}\n"
            f"detectors:\n  search_path: [\"{PLUGINS}\"]\n  include: []\n  deadline: 10s\n  enabled:\n" + "".join(
                f"    - {{key: {key}, library: {key}.so}}\n"
                for key in ("false_success", "expensive_loop", "schema_ghost", "missing_tool_call", "context_overflow")))
        self.start()
        self.key = subprocess.run(
            [RUNWARDEN, "keys", "create", "--tenant", "acme", "--scopes", "ingest,read", "--config", self.folder / "runwarden.yaml"],
            check=True, capture_output=True, text=True).stdout.strip()

    def start(self):
        log = open(self.folder / "log", "a")
        self.process = subprocess.Popen([RUNWARDEN, "serve", "--config", self.folder / "runwarden.yaml"], stderr=log)
        wait_for_port(self.port, self.process, self.folder / "log")

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait(60)

    def log(self):
        return (self.folder / "log").read_text()


def wait_for_port(port, process, log):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if process.poll() is not None:
            fail(f"ended with {process.returncode}: {pathlib.Path(log).read_text()[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    fail(f"nothing listens on {port}")


def start_proxy(folder, service_port):
    """The shipped snippet, with only its ports changed."""
    port = free_port()
    if PROXY == "nginx":
        path, command = "etc/nginx/conf.d/runwarden.conf", ["nginx", "-g", "daemon off;"]
        changes = [("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"), ("  listen [::]:443 ssl;\n", ""), ("127.0.0.1:8080", f"127.0.0.1:{service_port}")]
    else:
        path, command = "etc/haproxy/haproxy.cfg", ["haproxy", "-db", "-f", "/etc/haproxy/haproxy.cfg"]
        changes = [("bind :443", f"bind 127.0.0.1:{port}"), ("127.0.0.1:8080", f"127.0.0.1:{service_port}")]
    file = pathlib.Path(ROOT, path)
    text = file.read_text()
    for old, new in changes:
        if text.count(old) < 1:
            fail(f"the snippet has no {old}")
        head, shown = text.split("\n\n", 1)  # its comment speaks of ports as well
        text = head + "\n\n" + shown.replace(old, new)
    file.write_text(text)
    log = open(os.path.join(folder, "proxy.log"), "w")
    process = subprocess.Popen(["chroot", ROOT, *command], stdout=log, stderr=log)
    wait_for_port(port, process, log.name)
    return port, process


def tls(version=None):
    context = ssl.create_default_context(cafile=CERTIFICATE)
    if version:
        context.minimum_version = context.maximum_version = version
    return context


def connect(port, context, source=None):
    raw = socket.create_connection(("127.0.0.1", port), 30, source_address=(source, 0) if source else None)
    return context.wrap_socket(raw, server_hostname=NAME)


class Client(http.client.HTTPConnection):
    """One keep-alive connection."""

    def __init__(self, port, key, context=None, source=None):
        super().__init__(NAME, port)
        self.proxy_port, self.key, self.context, self.source = port, key, context or tls(), source

    def connect(self):
        self.sock = connect(self.proxy_port, self.context, self.source)

    def ask(self, method, path, body=None, chunked=False, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()} | {"Authorization": "Bearer " + self.key}
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        self.request(method, path, body, headers, encode_chunked=chunked)
        answer = self.getresponse()
        return answer.status, answer.read()

    def post(self, run, **more):
        status, body = self.ask("POST", "/v1/ingest/runs", json.dumps(run).encode(), **more)
        return status, json.loads(body) if body.startswith(b"{") else body


def expect(what, got, wanted):
    if got != wanted:
        fail(f"{what}: expected {wanted}, got {got}")


def check_tls(port, service):
    for version, shown in ((ssl.TLSVersion.TLSv1_2, "TLSv1.2"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3")):
        client = Client(port, service.key, tls(version))
        status, answer = client.post(REFUND)
        expect(shown, (status, client.sock.version(), len(answer["failures"])), (201, shown, 1))
    old = tls(ssl.TLSVersion.TLSv1_1)
    old.set_ciphers("ALL:@SECLEVEL=0")
    try:
        connect(port, old)
    except (ssl.SSLError, ConnectionError):
        return
    fail("TLS 1.1 is let in")


def check_bodies(port, service):
    client = Client(port, service.key)
    plain = json.dumps(REFUND | {"runId": f"{PROXY}-chunked"}).encode()
    pieces = [plain[i:i + 7] for i in range(0, len(plain), 7)]
    status, _ = client.ask("POST", "/v1/ingest/runs", iter(pieces), chunked=True, Transfer_Encoding="chunked")
    expect("chunked", status, 201)
    packed = gzip.compress(json.dumps(REFUND | {"runId": f"{PROXY}-gzip"}).encode())
    status, _ = client.ask("POST", "/v1/ingest/runs", packed, Content_Encoding="gzip")
    expect("gzip", status, 201)
    lines = b"".join(json.dumps({"runId": f"{PROXY}-line-{i}", "outcomeSummary": "x" * 500}).encode() + b"\n" for i in range(20_000))
    status, body = client.ask("POST", "/v1/ingest/runs", lines, Content_Type="application/x-ndjson")
    expect("a batch of 10 MB", (status, json.loads(body)["accepted"]), (200, 20_000))
    status, body = client.ask("POST", "/v1/ingest/runs", gzip.compress(lines.replace(b"-line-", b"-packed-")), Content_Type="application/x-ndjson",
                              Content_Encoding="gzip")
    expect("a packed batch", (status, json.loads(body)["accepted"]), (200, 20_000))
    for run in ("chunked", "gzip", "line-0", "packed-19999"):
        status, body = client.ask("GET", f"/v1/runs/{PROXY}-{run}")
        expect(run, (status, json.loads(body)["runId"]), (200, f"{PROXY}-{run}"))
    status, _ = client.ask("POST", "/v1/ingest/runs", b"[" * 100)
    expect("no JSON", status, 400)
    for path in ("/metrics", "/metrics?x", "/%6detrics"):
        status, _ = client.ask("GET", path)
        expect(f"{path} is not for everybody", status, 403)


def check_request_id(port, service):
    client = Client(port, service.key)
    client.request("GET", "/healthz", headers={"X-Request-Id": "of-the-client"})
    answer = client.getresponse()
    answer.read()
    expect("X-Request-Id", answer.headers.get_all("X-Request-Id"), ["of-the-client"])


def check_client_address(port, service):
    client = Client(port, service.key, source="127.0.0.77")
    expect("a run", client.post(REFUND, X_Forwarded_For="203.0.113.9")[0], 201)
    until = time.monotonic() + 10
    while '"client":"127.0.0.77"' not in service.log() and time.monotonic() < until:
        time.sleep(0.05)
    if '"client":"127.0.0.77"' not in service.log() or "203.0.113.9" in service.log():
        fail("the log does not have the client's own address")


def hang_up(port, context, key, number):
    """Begins a request and resets the connection at some point of it."""
    body = json.dumps(REFUND | {"runId": f"{PROXY}-gone-{number}"}).encode()
    request = (f"POST /v1/ingest/runs HTTP/1.1\r\nHost: {NAME}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
               f"Content-Length: {len(body)}\r\n\r\n").encode() + body
    # Most send all and do not wait for the answer: that one must not get to anybody else.
    cut = len(request) if number % 4 else random.randrange(1, len(request))
    with connect(port, context) as client:
        client.sendall(request[:cut])
        if number % 3 == 0:
            time.sleep(0.002)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def check_aborts(port, service):
    faults, numbers, done, context = [], iter(range(ABORTS)), threading.Event(), tls()
    lock = threading.Lock()

    def abort():
        while True:
            with lock:
                number = next(numbers, None)
            if number is None or faults:
                return
            try:
                hang_up(port, context, service.key, number)
            except OSError:
                pass  # the other side may be faster

    def stay(name):
        client, count = Client(port, service.key), 0
        while not done.is_set() or count < 50:
            run = f"{PROXY}-{name}-{count}"
            status, answer = client.post({"runId": run})
            if status != 201 or answer["runId"] != run:
                faults.append(f"{run} was answered {status} {answer}")
                return
            status, body = client.ask("GET", f"/v1/runs/{run}")
            if status != 200 or json.loads(body)["runId"] != run:
                faults.append(f"{run} was read as {status} {body[:200]}")
                return
            count += 1

    def guarded(work, *arguments):
        try:
            work(*arguments)
        except Exception as fault:  # a thread's fault is the test's
            faults.append(repr(fault))

    staying = [threading.Thread(target=guarded, args=(stay, f"stay{i}")) for i in range(4)]
    aborting = [threading.Thread(target=guarded, args=(abort,)) for _ in range(8)]
    for thread in staying + aborting:
        thread.start()
    for thread in aborting:
        thread.join()
    done.set()
    for thread in staying:
        thread.join()
    if faults:
        fail(f"{len(faults)} wrong answers beside {ABORTS} clients that hung up: {faults[0]}")


def check_restarts(port, service):
    """What was acknowledged through the proxy is there, whatever became of the service meanwhile."""
    acknowledged, statuses, done, lock = [], {}, threading.Event(), threading.Lock()

    def post(name):
        client, count = Client(port, service.key), 0
        while not done.is_set():
            run = f"{PROXY}-restart-{name}-{count}"
            try:
                status, answer = client.post({"runId": run, "outcomeSummary": "x" * 200})
            except (OSError, http.client.HTTPException):
                status = 0
                client.close()
            with lock:
                statuses[status] = statuses.get(status, 0) + 1
                if status in (200, 201):
                    acknowledged.append(run)
            if status in (200, 201):
                count += 1  # otherwise the same again: its runId makes that safe
            else:
                time.sleep(0.01)

    clients = [threading.Thread(target=post, args=(i,)) for i in range(8)]
    for client in clients:
        client.start()
    for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        before = len(acknowledged)
        until = time.monotonic() + 30
        while len(acknowledged) < before + 200 and time.monotonic() < until:
            time.sleep(0.01)
        service.stop(number)
        service.start()
    done.set()
    for client in clients:
        client.join()
    unexpected = set(statuses) - {0, 200, 201, 502, 503, 504}
    if unexpected or len(acknowledged) < 800:
        fail(f"restarts: {statuses}, {len(acknowledged)} acknowledged")
    reader = Client(port, service.key)
    for run in acknowledged:
        status, _ = reader.ask("GET", f"/v1/runs/{run}")
        if status != 200:
            fail(f"{run} was acknowledged and is {status} after restarts of the service")
    return f"{len(acknowledged)} acknowledged and there; answers {dict(sorted(statuses.items()))}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        service, proxy = Service(folder), None
        try:
            port, proxy = start_proxy(folder, service.port)
            for check in (check_tls, check_bodies, check_request_id, check_client_address, check_aborts, check_restarts):
                begun = time.monotonic()
                said = check(port, service)
                print(f"{PROXY}: {check.__name__[6:]}: fine in {time.monotonic() - begun:.1f} s{'; ' + said if said else ''}", flush=True)
        finally:
            if proxy:
                proxy.terminate()
                proxy.wait(30)
            service.stop(signal.SIGKILL)
    if re.search("emerg|ALERT", pathlib.Path(ROOT).joinpath("var/log/nginx/error.log").read_text() if PROXY == "nginx" else ""):
        fail("nginx has had an emergency")


main()
