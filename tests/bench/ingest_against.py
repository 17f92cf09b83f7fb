#!/usr/bin/env python3
"""usage: ingest_against.py [--http] BUILD OTHER_BUILD [ROUNDS [SECONDS]] - how fast one build takes runs, against another.
       ingest_against.py --ledger TENANTS BUILD [ROUNDS [SECONDS]] - with the ledger, against ledger.enabled: false.

Both are folders of Release builds, made from the two versions to compare. Without --http the store alone is timed: each folder's
tests/bench/bench_groups. With it, the service: five runs of 4 KB a request over 64 connections, one of them a failure of one of 256 groups,
with four dimensions and all five detectors. Rounds alternate, so that what else the machine does falls on both; prints each round's rates
and ratio, and last the median of the ratios. With --ledger each request is one run of 4 KB, of the next of so many tenants.
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

DETECTORS = ["context_overflow", "expensive_loop", "false_success", "missing_tool_call", "schema_ghost"]
RUNS_A_REQUEST = 5


def store_rate(build, seconds):
    with tempfile.TemporaryDirectory(dir=".") as folder:
        program = build / "tests/bench/bench_groups"
        return float(subprocess.run([program, "ingest", folder + "/store", str(seconds)], check=True, capture_output=True, text=True).stdout)


def a_run(fails):
    """About 4 KB; MM becomes two hexadecimal digits, which name the tool."""
    steps = []
    for number in range(12):
        text = f"The order 90{number:03} of customer 4711 is shipped and was charged once, with 19.90 EUR; the next one is to be looked at. " * 2
        kind = {"stepKind": "tool", "stepName": f"lookup_order_{number}"} if number % 2 else {"stepKind": "model", "stepName": "plan"}
        steps.append({**kind, "stepId": f"step_{number}", "status": "ok", "inputSummary": f"order 90{number:03}", "outputSummary": text})
    outcome = "All orders of customer 4711 are shipped, and each of them was charged once."
    if fails:
        steps.append({"stepKind": "tool", "stepName": "issue_refund_MM", "status": "failed", "errorMessage": "502 Bad Gateway"})
        outcome = "Your refund has been processed."
    return {"userRequestText": "Refund order 4711, and check the others.", "outcomeSummary": outcome, "success": True, "steps": steps,
            "metadata": {"model": "large-2", "version": "2.4.1", "environment": "production", "agent": "support"}}


class Service:
    def __init__(self, build, folder, ledger="{}", tenants=1):
        self.log = open(folder / "log", "wb")
        config = folder / "runwarden.yaml"
        enabled = "".join(f"    - {{key: {key}, library: {key}.so}}\n" for key in DETECTORS)
        config.write_text(f"server: {{address: '127.0.0.1:0'}}\nstore: {{path: {folder}/data}}\n"
                          f"ledger: {ledger}\nlimits: {{requests_per_second: 1000000, burst: 1000000}}\ndetectors:\n  search_path: ['{build}/plugins']\n  include: []\n  enabled:\n{enabled}")
        program = build / "bin/runwarden"
        self.keys = [subprocess.run([program, "keys", "create", "--tenant", f"bench-{number}", "--config", config], check=True,
                                    capture_output=True, text=True).stdout.split()[-1] for number in range(tenants)]
        self.process = subprocess.Popen([program, "serve", "--config", config], stderr=self.log)
        self.port = None
        for _ in range(200):
            found = re.search(r'"listening".*"port":(\d+)', (folder / "log").read_text())
            if found:
                self.port = found[1]
                return
            time.sleep(0.05)
        raise SystemExit(f"{program} does not listen: {(folder / 'log').read_text()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()


def http_rate(build, seconds):
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = pathlib.Path(name).resolve()
        body = folder / "runs.ndjson"
        body.write_text("".join(json.dumps(a_run(number == 0)) + "\n" for number in range(RUNS_A_REQUEST)))
        with Service(build, folder) as service:
            load = [build / "tests/bench/bench_http_load", "--port", service.port, "--key", service.keys[0], "--seconds", str(seconds),
                    "--warmup-seconds", "1", "--body", body, "--type", "application/x-ndjson", "--mark", "MM"]
            said = json.loads(subprocess.run(load, check=True, capture_output=True, text=True).stdout)
        if said["errors"]:
            raise SystemExit(f"{build}: {said['errors']} requests failed")
        return said["rps"] * RUNS_A_REQUEST


def ledger_rate(build, seconds, enabled, tenants):
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = pathlib.Path(name).resolve()
        with Service(build, folder, f"{{enabled: {enabled}}}", tenants) as service:
            keys = folder / "keys"
            keys.write_text("".join(key + "\n" for key in service.keys))
            load = [build / "tests/bench/bench_http_load", "--port", service.port, "--keys", keys, "--seconds", str(seconds), "--warmup-seconds", "1"]
            said = json.loads(subprocess.run(load, check=True, capture_output=True, text=True).stdout)
        if said["errors"]:
            raise SystemExit(f"{build}: {said['errors']} requests failed")
        return said["rps"]


def against_no_ledger(tenants, build, rounds=5, seconds=5):
    build = pathlib.Path(os.path.abspath(build))
    ratios = []
    for number in range(int(rounds)):
        order = ["true", "false"] if number % 2 == 0 else ["false", "true"]
        rates = {enabled: ledger_rate(build, float(seconds), enabled, int(tenants)) for enabled in order}
        ratios.append(rates["true"] / rates["false"])
        print(f"round {number + 1}: {rates['true']:.0f} with a ledger, {rates['false']:.0f} without, ratio {ratios[-1]:.3f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.3f}")


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--ledger"] and 3 <= len(arguments) <= 5:
        return against_no_ledger(*arguments[1:])
    rate = http_rate if arguments[:1] == ["--http"] else store_rate
    if rate is http_rate:
        del arguments[0]
    if not 2 <= len(arguments) <= 4:
        sys.exit(__doc__)
    builds = [pathlib.Path(os.path.abspath(folder)) for folder in arguments[:2]]
    rounds = int(arguments[2]) if len(arguments) > 2 else 5
    seconds = float(arguments[3]) if len(arguments) > 3 else 5
    ratios = []
    for number in range(rounds):
        order = [0, 1] if number % 2 == 0 else [1, 0]
        rates = {which: rate(builds[which], seconds) for which in order}
        ratios.append(rates[0] / rates[1])
        print(f"round {number + 1}: {rates[0]:.0f} against {rates[1]:.0f} runs/s, ratio {ratios[-1]:.3f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
