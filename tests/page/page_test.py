#!/usr/bin/env python3
"""usage: page_test.py RUNWARDEN PLUGINS SAMPLES PICTURES TEST... - the page at /ui/ in a real browser, against the real service.

TEST is a class below, or one of its tests (Views.test_detectors). Standard library and Debian's chromium only; exits 77 where there is none. Pictures
of every view are left in the folder PICTURES, to be looked at.
"""
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

from browser import Browser, Fault, find_chromium

VIEWS = ["groups", "group", "runs", "run", "candidates", "changes", "baseline", "detectors"]
# Markup, handlers, addresses, templates and characters that turn the text around them: what must show as it is.
PROBES = ["<script>window.hit = 1</script>", "<img src=x onerror=\"window.hit = 2\">", "javascript:window.hit=3", "\"><svg onload=window.hit=4>", "{{7*7}}", "\u202egnp.exe", "'-window.hit-'"]
PROBE = " ".join(PROBES)


class Service:
    """The real program on a folder of its own, with the samples in tenant `samples`."""
    map_size = "1GiB"
    more = ""  # of the configuration
    detectors = ("false_success", "expensive_loop", "schema_ghost", "missing_tool_call", "context_overflow")

    def __init__(self, runwarden, plugins, samples):
        self.folder = tempfile.mkdtemp(prefix="runwarden-page-")
        self.runwarden = runwarden
        self.plugins = plugins
        self.config = self.folder + "/runwarden.yaml"
        entries = "".join(f"\n    - {{key: {key}, library: {key}.so}}" for key in self.detectors) or " []"
        pathlib.Path(self.config).write_text(f"server: {{address: \"127.0.0.1:0\"}}\nstore: {{path: data, map_size: {self.map_size}}}\ndetectors:\n  search_path: [\"{plugins}\"]\n  deadline: 10s\n  include: []\n  enabled:{entries}\n{self.more}")
        self.fill(samples)
        self.log = open(self.folder + "/log", "w+", encoding="utf-8")
        self.process = subprocess.Popen([runwarden, "serve", "--config", self.config], stderr=self.log)
        self.port = self._wait_for_port()
        self.url = f"http://127.0.0.1:{self.port}"

    def fill(self, samples):
        exported = subprocess.run([samples, "--runwarden", self.runwarden, "--config", self.config, "--tenant", "samples"], check=True, capture_output=True).stdout
        subprocess.run([self.runwarden, "import", "--config", self.config], input=exported, check=True, capture_output=True)

    def _wait_for_port(self):
        for _ in range(1000):
            for line in pathlib.Path(self.folder + "/log").read_text(encoding="utf-8").splitlines():
                if '"listening"' in line:
                    return json.loads(line)["port"]
            time.sleep(0.02)
        raise Fault("the service does not listen")

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, *words):
        return subprocess.run([self.runwarden, *words, "--config", self.config], check=True, capture_output=True, text=True).stdout.strip()

    def key(self, tenant, scopes="ingest,read"):
        return self.command("keys", "create", "--tenant", tenant, "--scopes", scopes, "--name", "tests")

    def post(self, key, path, body):
        return self.send(key, path, json.dumps(body), "application/json")

    def post_runs(self, key, runs):
        return self.send(key, "runs", "\n".join(map(json.dumps, runs)), "application/x-ndjson")

    def send(self, key, path, text, media_type):
        request = urllib.request.Request(f"{self.url}/v1/ingest/{path}", text.encode(), {"Authorization": f"Bearer {key}", "Content-Type": media_type})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def session(self, key):
        """What a session's cookie holds."""
        request = urllib.request.Request(f"{self.url}/v1/session", json.dumps({"key": key}).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.headers["Set-Cookie"].split(";")[0].partition("=")[2]

    def get(self, key, path):
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/v1/{path}", headers={"Authorization": f"Bearer {key}"}), timeout=30) as answer:
            return json.load(answer)


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def send(self, status, headers, body):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Proxy(Handler):
    """Hands everything on, and what comes back changed."""
    target = 0

    def changed(self, text):
        return text

    def answer(self):
        body = self.body()
        connection = http.client.HTTPConnection("127.0.0.1", self.target)
        connection.request(self.command, self.path, body or None, {name: value for name, value in self.headers.items() if name.lower() != "content-length"})
        answer = connection.getresponse()
        self.send(answer.status, [(name, value) for name, value in answer.getheaders() if name.lower() not in ("content-length", "connection", "date")],
                  self.changed(answer.read()))

    do_GET = do_POST = do_DELETE = answer


class Broken(Proxy):
    """Hands the page and the session on, and answers 500 to everything else."""

    def answer(self):
        if self.path.startswith("/ui/") or self.path.startswith("/v1/session"):
            return super().answer()
        self.body()
        text = json.dumps({"title": "Internal error", "detail": "the disk is on fire", "status": 500, "requestId": "req_500"}).encode()
        return self.send(500, [("Content-Type", "application/problem+json"), ("X-Request-Id", "req_500")], text)

    do_GET = do_POST = do_DELETE = answer


class Leaving(Proxy):
    """Hands everything on until it is `away`; then it closes every connection without an answer."""
    away = False

    def answer(self):
        if type(self).away:
            self.close_connection = True
            return None
        return super().answer()

    do_GET = do_POST = do_DELETE = answer


class Crowded(Proxy):
    """Hands everything on, but has no room for what is read while it is `full`: all but what is `spared`."""
    full = False
    status = 503
    spared = r"/(ui/|v1/(session|tail))"

    def answer(self):
        if not type(self).full or re.match(type(self).spared, self.path):
            return super().answer()
        self.body()
        text = json.dumps({"title": "The service is busy", "detail": "no room for another answer", "status": self.status, "requestId": "req_503"}).encode()
        return self.send(self.status, [("Content-Type", "application/problem+json"), ("Retry-After", "1"), ("X-Request-Id", "req_503")], text)

    do_GET = do_POST = do_DELETE = answer


class Keeping(Proxy):
    """Hands everything on, but cannot end a session while it is `full`."""
    full = True

    def do_DELETE(self):
        if not type(self).full:
            return self.answer()
        return self.send(503, [("Content-Type", "application/problem+json")], json.dumps({"title": "The service is busy", "detail": "no room", "status": 503}).encode())


class Slow(Proxy):
    """Hands everything on, lists of groups not before the gate is open."""
    gate = None

    def answer(self):
        if self.path.startswith("/v1/clusters"):
            type(self).gate.wait(30)
        return super().answer()

    do_GET = do_POST = do_DELETE = answer


class WithoutCookies(Proxy):
    """Hands everything on but cookies, as a browser that keeps none."""

    def send(self, status, headers, body):
        super().send(status, [(name, value) for name, value in headers if name.lower() != "set-cookie"], body)


class NeverStored(Proxy):
    """Candidates as if every text of them were a stranger's, and nobody had answered."""

    def changed(self, text):
        if not self.path.startswith("/v1/candidates"):
            return text
        answer = json.loads(text)
        for item in answer["items"]:
            item.update(state="dead", attempts=5, lastError=PROBE, rule=PROBE, reason=PROBE, primaryStepId=PROBE, runId=PROBE)
            if "review" in item:
                item["review"].update(author=f"model:{PROBE}", reason=PROBE, promptVersion=PROBE, evidence=[{"pointer": PROBE, "quote": PROBE}])
        return json.dumps(answer).encode()


class Model(Handler):
    """An endpoint for chat completions that says of a run what stands in SAYS; of others that it cannot."""

    def do_POST(self):
        self.body()
        said = SAYS.get(self.headers["X-Runwarden-Run"])
        if said is None:
            return self.send(400, [("Content-Type", "application/json")], b"{}")
        verdict, reason, pointer, quote = said
        content = json.dumps({"verdict": verdict, "reason": reason, "evidence": [{"pointer": pointer, "quote": quote}]})
        answer = {"choices": [{"message": {"role": "assistant", "content": content}}], "usage": {"prompt_tokens": 700, "completion_tokens": 50, "total_tokens": 750}}
        return self.send(200, [("Content-Type", "application/json")], json.dumps(answer).encode())


SAYS = {"confirmed": ("present", "The mail never left.", "/steps/1/errorMessage", "502 Bad Gateway"),
        "denied": ("absent", "Nothing was promised.", "/outcomeSummary", "Tuesday suits us"),
        "unclear": ("unclear", "It may be either.", "/steps/1/stepName", "send_mail"),
        "alarm": ("absent", "The refund came later.", "/steps/1/errorMessage", "502 Bad Gateway"),
        "probe": ("present", f"Since {PROBE}", "/steps/1/errorMessage", f"502 Bad Gateway {PROBE}")}


def doubtful_run(run_id):
    """A run that false_success has its doubts of, and does not fire on."""
    extra = f" {PROBE}" if run_id == "probe" else ""
    return {"runId": run_id, "outcomeSummary": f"Tuesday suits us well.{extra}",
            "steps": [{"stepId": "look", "stepKind": "tool", "stepName": "find_address", "status": "ok", "outputSummary": "ann@example.com"},
                      {"stepId": "mail 2", "stepKind": "tool", "stepName": "send_mail", "status": "failed", "errorMessage": f"502 Bad Gateway{extra}"}]}


def alarming_run(run_id):
    return {"runId": run_id, "userRequestText": "Refund order 8842", "success": True, "outcomeSummary": "Your refund has been processed.",
            "steps": [{"stepKind": "tool", "stepName": "find_order", "status": "ok", "outputSummary": "8842"},
                      {"stepKind": "tool", "stepName": "issue_refund", "status": "failed", "errorMessage": "502 Bad Gateway"}]}


def reopened(service, key, run_id):
    """A run that failed and goes on; what its first revision failed with."""
    call = {"type": "tool_call", "name": "issue_refund", "status": "failed", "error": "502 Bad Gateway", "eventId": "e1"}
    end = {"type": "run_finished", "success": True, "outcomeSummary": "Your refund has been processed.", "eventId": "e2"}
    failures = service.post(key, "events", {"runId": run_id, "events": [call, end]})["failures"]
    service.post(key, "events", {"runId": run_id, "events": [{"type": "tool_call", "name": "look_up", "status": "ok", "eventId": "e3"}]})
    return failures


def blank_run(run_id):
    """A run whose answer is of a call that returned nothing."""
    return {"runId": run_id, "userRequestText": "What is the status of order 8842?", "success": True,
            "outcomeSummary": "Order 8842 shipped on March 3 with DHL, tracking number 4499123, and arrives on Friday.",
            "steps": [{"stepKind": "tool", "stepName": "get_order", "status": "ok", "inputSummary": {"order": 8842}, "outputSummary": ""}]}


def probe_run(run_id):
    """A run that fails, with the probes in every text that a client may send."""
    step = {"stepKind": "tool", "stepName": "issue_refund", "status": "failed", "errorMessage": f"502 {PROBE}", "inputSummary": {PROBE: PROBE}, "outputSummary": PROBE, "errorCode": PROBE,
            "metadata": {PROBE: PROBE}, PROBE: PROBE}
    return {"runId": run_id, "userRequestText": f"Refund order 8842 {PROBE}", "success": True, "outcomeSummary": f"Your refund has been processed. {PROBE}",
            "metadata": {"model": PROBE, "version": PROBE[:60], PROBE: PROBE}, "steps": [{"stepKind": PROBE, "stepName": PROBE, "status": PROBE}, step], PROBE: {PROBE: PROBE}}


class PageTest(unittest.TestCase):
    """Every test ends with: nothing said on the console, nothing thrown, no other origin asked."""
    service = browser = None
    pictures = ""

    @classmethod
    def group_path(cls):
        if not hasattr(PageTest, "_group"):
            items = cls.service.get(cls.keys["samples"], "clusters?window=7d&sort=count")["items"]
            PageTest._group = next(item for item in items if item["detectorKey"] == "false_success")["clusterId"]
        return f"/ui/groups/{PageTest._group}?window=7d"

    def path_of(self, view):
        return {"group": self.group_path(), "run": "/ui/runs/sample-094"}[view] if view in ("group", "run") else f"/ui/{view}"

    def setUp(self):
        self.pages = []
        self.expected = []  # what the console may say, as patterns

    def tearDown(self):
        for page in self.pages:
            said = [text for text in page.messages if not any(re.search(pattern, text) for pattern in self.expected)]
            self.assertEqual(said, [], "on the console")
            self.assertEqual(page.faults, [], "thrown")
            strangers = [url for _, url in page.requests if urllib.parse.urlsplit(url).hostname not in ("127.0.0.1", None)]
            self.assertEqual(strangers, [], "requests to elsewhere")
            page.close()

    def page(self, **size):
        page = self.browser.page(**size)
        self.pages.append(page)
        return page

    def logged_in(self, tenant="samples", path="/ui/", key=None, **size):
        """A page of its own profile, with the session's cookie already there: the login itself is what Sessions tries."""
        page = self.page(**size)
        page.adopt(self.service.url, self.service.session(key or self.keys[tenant]))
        page.go(self.service.url + path)
        return page

    def see(self, page, *names):
        for name in names:
            self.assertGreater(page.count(name), 0, f"{name} at {page.run('location.href')}: {page.run('document.body.innerText')[:800]}")


class Views(PageTest):
    def test_groups_say_what_fails_how_often_and_since_when(self):
        page = self.logged_in()
        self.see(page, "group", "group-title", "group-state", "group-count", "group-share", "group-first", "group-last", "spark", "filter-window", "filter-state", "filter-detector",
                 "filter-severity", "search", "tenant", "logout", "nav-groups", "live", "theme-toggle")
        self.assertEqual(page.text("tenant"), "samples")
        self.assertIn("false_success", page.data("group", "detector"))
        row = page.run("[...document.querySelectorAll('[data-test=group]')].find((one) => one.dataset.detector === 'false_success').innerText")
        self.assertIn("False success: agent claimed completion after issue_refund failed", row)
        self.assertRegex(row, r"\d+ failures")
        self.assertRegex(row, r"% of runs")
        self.assertIn("days ago", row)
        self.assertEqual(page.run("document.querySelectorAll('h1').length"), 1)

    def test_the_head_counts_the_runs_that_failed(self):
        key = self.service.key("share")
        run = alarming_run("bad")
        run["steps"] = run["steps"][:1] + run["steps"][1:] * 8
        self.assertGreater(len(self.service.post(key, "runs", run)["failures"]), 1)
        for i in range(2):
            self.service.post(key, "runs", {"runId": f"fine {i}", "userRequestText": "Hello", "outcomeSummary": "Hello!", "success": True})
        page = self.logged_in(key=key)
        self.assertRegex(page.run("document.querySelector('.totals .lead').innerText"), r"^\d failures in 1 of 3 runs \(33\u00a0%\), last 7 days$")

    def test_the_order_by_failures_shows_what_it_goes_by(self):
        counts = [item["count"] for item in self.service.get(self.keys["samples"], "clusters?window=24h&sort=count")["items"]]
        page = self.logged_in(path="/ui/groups?window=24h&sort=count")
        self.assertEqual(page.run("document.querySelector('#f-sort').selectedOptions[0].text"), "Most failures in all")
        shown = page.run("[...document.querySelectorAll('[data-test=group]')].map((one) => Number(/(\\d+) in all/.exec(one.innerText)?.[1]))")
        self.assertEqual(shown, counts)
        self.assertEqual(shown, sorted(shown, reverse=True))
        self.assertNotEqual(page.text("group-count"), f"{counts[0]} failures", "the window holds fewer")

    def test_filters_stand_in_the_address(self):
        page = self.logged_in()
        page.choose("filter-detector", "false_success")
        page.wait("location.search.includes('detector=false_success') && document.documentElement.dataset.ready === 'true'")
        self.assertEqual(set(page.data("group", "detector")), {"false_success"})
        page.run("document.querySelector('[data-test=search]').focus()")
        page.type("no such text")
        page.wait("location.search.includes('q=no') && document.querySelector('[data-test=empty]')", "an empty list")
        page.click("[data-test=empty] button")
        page.wait("location.search === '' && document.querySelectorAll('[data-test=group]').length > 3", "the filter cleared")

    def test_a_search_waits_for_what_an_input_method_composes(self):
        key = self.service.key("composing", "ingest,read")
        run = alarming_run("one")
        run["steps"][1]["stepName"] = "refund_\u6f22\u5b57"
        self.service.post(key, "runs", run)
        page = self.logged_in(key=key)
        page.run("document.querySelector('[data-test=search]').focus()")
        page.send("Input.imeSetComposition", text="kan", selectionStart=3, selectionEnd=3)
        self.service.post(key, "runs", alarming_run("two"))
        page.wait("performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/v1/session')).length > 4", "more than the delay of the search and two looks at what is new")
        page.send("Input.insertText", text="\u6f22\u5b57")
        page.wait("location.search.includes('q=') && document.documentElement.dataset.ready === 'true'", "the search")
        self.assertEqual(page.run("[document.querySelector('[data-test=search]').value, decodeURI(location.search)]"), ["\u6f22\u5b57", "?q=\u6f22\u5b57"])
        self.assertEqual(page.count("group"), 1)

    def test_a_group_points_at_the_change_that_brought_it(self):
        page = self.logged_in(path=self.group_path())
        self.see(page, "group-page", "timeline", "bar", "mark", "suspect-change", "example")
        self.assertIn("41c9d07", page.text("suspect-change"))
        self.assertEqual(page.data("mark", "suspect").count("true"), 1)
        self.assertGreater(sum(map(int, page.data("bar", "failures"))), 5)
        page.click("example")
        page.ready("run")

    def test_later_marks_do_not_cover_the_suspect_change(self):
        key = self.service.key("covered")
        self.service.post(key, "runs", blank_run("before"))
        suspect = self.service.post(key, "changes", {"kind": "code", "ref": "9f3c2d1"})["changeId"]
        self.service.post(key, "runs", alarming_run("after"))
        for i in range(3):
            self.service.post(key, "changes", {"kind": "code", "ref": f"later {i}"})
        groups = self.service.get(key, "clusters?detector=false_success")["items"]
        page = self.logged_in(key=key, path=f"/ui/groups/{groups[0]['clusterId']}?window=7d")
        self.assertEqual(page.data("suspect-change", "id"), [suspect])
        self.assertEqual(page.count("mark"), 4)
        on_top = ("(() => { const circle = document.querySelector('[data-test=mark][data-suspect=true] circle'); circle.scrollIntoView({block: 'center'}); const r = circle.getBoundingClientRect();"
                  " return document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2).closest('[data-test=mark]')?.dataset.id ?? null; })()")
        self.assertEqual(page.run(on_top), suspect)

    def test_a_group_leads_to_all_its_runs_and_they_lead_back(self):
        wanted = {item["runId"] for item in self.service.get(self.keys["samples"], "failures?detector=false_success&limit=200")["items"]}
        page = self.logged_in(path=self.group_path())
        page.click("all-runs")
        page.ready("runs")
        self.assertEqual(set(page.run("[...document.querySelectorAll('[data-row]')].map((one) => one.dataset.id)")), wanted)
        page.run("document.querySelector('main form a').click()")
        page.ready("group")

    def test_a_group_in_a_window_without_its_failures_says_so(self):
        page = self.logged_in(path=self.group_path().replace("7d", "1h"))
        self.assertIn("Nothing failed this way in this window", page.text("group-page"))
        self.assertNotIn("No change came before", page.text("group-page"))
        page.run("document.querySelector('.note a').click()")
        page.wait("document.querySelector('[data-test=suspect-change]')", "the change, in a window with the failures")

    def test_a_run_is_taken_apart(self):
        page = self.logged_in(path="/ui/runs/sample-094")
        self.see(page, "failure", "request", "answer", "step", "evidence", "verdict", "policy", "tokens", "cost", "raw")
        self.assertEqual(page.data("failure", "detector"), ["false_success"])
        self.assertEqual(page.data("step", "primary"), ["false", "true"])
        self.assertTrue(page.run("document.querySelector('[data-primary=true]').open"))
        self.assertEqual(page.run("document.querySelector('mark[data-pointer=\"/steps/1/errorMessage\"]').innerText"), "502 Bad Gateway")
        self.assertEqual(page.data("policy", "revision"), ["2"])
        self.assertIn("by ben", page.text("policy"))
        self.assertEqual(len(page.data("verdict", "status")), 5)
        box = page.run("(() => { const r = document.querySelector('[data-primary=true]').getBoundingClientRect(); return [r.top, innerHeight]; })()")
        self.assertTrue(0 <= box[0] < box[1], "the step is on the screen")

    def test_evidence_in_an_empty_output_is_marked(self):
        key = self.service.key("blank")
        run = blank_run("blank")
        run["steps"].append({"stepKind": "tool", "stepName": "log", "status": "ok", "inputSummary": "seen", "outputSummary": ""})
        failure = self.service.post(key, "runs", run)["failures"][0]
        self.assertIn({"pointer": "/steps/0/outputSummary", "value": ""}, failure["evidence"])
        page = self.logged_in(key=key, path="/ui/runs/blank")
        self.assertEqual(page.run("document.querySelector('mark[data-pointer=\"/steps/0/outputSummary\"]')?.innerText ?? null"), "(empty)")
        self.assertEqual(page.run("document.querySelector('#step-2 pre[aria-label=output]').textContent"), "(empty)")
        self.assertEqual(page.run("document.querySelectorAll('#step-2 mark, .block-head button:not([hidden])').length"), 0, "no evidence, and nothing more to show")
        pointers = set()
        for _ in range(page.count("evidence")):
            page.key("n")
            pointers.add(page.run("document.querySelector('mark.current:focus').dataset.pointer"))
        self.assertIn("/steps/0/outputSummary", pointers)

    def test_a_run_and_its_steps_say_when_they_were(self):
        key = self.service.key("when", "ingest,read")
        run = alarming_run("when")
        run.update(startedAt="2026-11-01T10:00:00.000Z", endedAt="2026-11-01T10:01:00.000Z")
        run["steps"][1].update(stepId="refund 1", startedAt="2026-11-01T10:00:07.125Z", endedAt="2026-11-01T10:00:08.000Z")
        self.service.post(key, "runs", run)
        page = self.logged_in(key=key, path="/ui/runs/when")
        self.assertEqual(page.run("[...document.querySelectorAll('#step-2 time')].map((one) => one.dateTime)"), [run["steps"][1]["startedAt"], run["steps"][1]["endedAt"]])
        self.assertRegex(page.run("document.querySelector('#step-2 time').innerText"), r":07\.125$")
        self.assertIn("refund 1", page.run("document.querySelector('#step-2').innerText"))
        self.assertIn(run["endedAt"], page.run("[...document.querySelectorAll('aside time')].map((one) => one.dateTime)"))
        self.assertEqual(page.text("session-key"), "tests (ingest, read)")
        page.go(f"{self.service.url}/ui/groups")
        newest = "document.querySelector('[data-test=newest-run] time').dateTime"
        before = page.run(newest)
        self.assertEqual(before, self.service.get(key, "runs")["items"][0]["receivedAt"])
        self.service.post(key, "runs", {"runId": "fine", "userRequestText": "Hello", "outcomeSummary": "Hello!", "success": True})
        page.wait(f"{newest} > '{before}'", "the newest run", timeout_s=6)

    def test_a_run_leads_to_its_bundle(self):
        page = self.logged_in(path="/ui/runs/sample-094")
        link = page.run("document.querySelector('aside a[href*=\"/bundle\"]')?.getAttribute('href') ?? null")
        self.assertEqual(link, "/v1/runs/sample-094/bundle?revision=1")
        bundle = page.run(f"fetch('{link}').then((answer) => answer.json())")
        self.assertEqual(bundle["run"]["runId"], "sample-094")

    def test_a_run_leads_to_its_group_where_the_browser_has_no_digest(self):
        """As it is for pages that came by plain HTTP from another machine."""
        page = self.page()
        page.send("Page.addScriptToEvaluateOnNewDocument", source="Object.defineProperty(crypto, 'subtle', {value: undefined});")
        page.adopt(self.service.url, self.service.session(self.keys["samples"]))
        page.go(self.service.url + "/ui/runs/sample-094")
        page.run("[...document.querySelectorAll('[data-test=failure] a')].find((one) => one.innerText === 'All failures of this kind').click()")
        page.ready("group")
        self.assertEqual(page.run("location.pathname + location.search"), self.group_path())

    def test_numbers_keep_their_digits(self):
        key = self.service.key("digits")
        ids = [1234567890123456780 + i for i in range(9)]
        self.assertEqual(len({float(one) for one in ids}), 1, "one number to JavaScript")
        run = alarming_run("digits")
        run["steps"] = [{"stepKind": "tool", "stepName": "read", "status": "ok", "inputSummary": {"id": one}, "outputSummary": "ok"} for one in ids[:5]] + run["steps"]
        run["steps"][-1].update(inputSummary={"id": ids[5], "balance": -9223372036854775808}, outputSummary=json.dumps({"id": ids[6]}))
        run["metadata"] = {"order": ids[7], "costUsd": 0.5}
        self.service.post(key, "runs", run)
        self.service.post(key, "policies", {"policy": "digits", "content": {"account": ids[8]}})
        page = self.logged_in(key=key, path="/ui/runs/digits")
        self.assertEqual(page.count("fold"), 0, "no step is like another")
        shown = page.run("[...document.querySelectorAll('[data-primary=true] pre')].map((one) => one.textContent)")
        self.assertEqual([json.loads(shown[0]), json.loads(shown[-1])], [run["steps"][-1]["inputSummary"], {"id": ids[6]}])
        self.assertIn(str(ids[7]), page.run("document.querySelector('aside').innerText"))
        self.assertEqual(page.text("cost"), "$0.50")
        page.go(f"{self.service.url}/ui/changes?policy=digits")
        self.assertIn(str(ids[8]), page.run("document.querySelector('main pre').innerText"))

    def test_json_is_indented_as_it_was_sent(self):
        page = self.logged_in()
        sent = '{"b": 59.90, "a" : [1,\t2, {}, [ ], {"x": "{\\"q\\": [1,2]}, \\\\"}], "a": 1, "n": 12345678901234567.89, "h": 1e400}'
        wanted = '{\n  "b": 59.90,\n  "a": [\n    1,\n    2,\n    {},\n    [],\n    {\n      "x": "{\\"q\\": [1,2]}, \\\\"\n    }\n  ],\n  "a": 1,\n  "n": 12345678901234567.89,\n  "h": 1e400\n}'
        deep = "[" * 50_000 + "]" * 50_000
        shown = page.run(f"import('/ui/assets/format.js').then(({{pretty}}) => [{json.dumps(sent)}, '[1, 2', '[1] 2', 'plain', {json.dumps(deep)}].map((one) => pretty(one)))")
        self.assertEqual(shown, [wanted, "[1, 2", "[1] 2", "plain", deep])

    def test_steps_with_different_errors_are_not_called_identical(self):
        key = self.service.key("errors")
        call = {"stepKind": "tool", "stepName": "look_up", "status": "failed", "inputSummary": "order 8842"}
        steps = [{**call, "errorMessage": f"error {i}"} for i in range(5)] + [{**call, "stepName": "read", "errorCode": str(i)} for i in range(5)]
        self.service.post(key, "runs", {"runId": "errors", "steps": steps})
        page = self.logged_in(key=key, path="/ui/runs/errors")
        self.assertEqual((page.count("fold"), page.count("step")), (0, 10))

    def test_each_failure_names_the_change_before_it(self):
        key = self.service.key("changes-of-failures")
        self.service.post(key, "runs", alarming_run("before"))
        self.service.post(key, "changes", {"kind": "code", "ref": "9f3c2d1"})
        run = alarming_run("both")
        run["steps"] = run["steps"][:1] + run["steps"][1:] * 8
        self.assertEqual(len(self.service.post(key, "runs", run)["failures"]), 2)
        page = self.logged_in(key=key, path="/ui/runs/both")
        said = page.run("[...document.querySelectorAll('[data-test=failure]')].map((one) => one.querySelector('.note')?.innerText ?? '')")
        self.assertEqual(["Which change brought it?" in one and "9f3c2d1" in one for one in said], [True, True])

    def test_texts_from_right_to_left_leave_the_words_around_them(self):
        key = self.service.key("right-to-left", "ingest,read,manage")
        right, left = "\u05e9\u05dc\u05d5\u05dd", "\u0645\u0631\u062d\u0628\u0627"
        self.service.post(key, "changes", {"kind": "code", "ref": right, "summary": left, "author": right})
        self.service.post(key, "policies", {"policy": left, "revision": right, "content": right, "author": right, "summary": left})
        run = alarming_run(left)
        run["steps"][0].update(stepKind=right, stepName=left, status=right)
        run["steps"] = run["steps"][:1] * 5 + run["steps"][1:]
        self.service.post(key, "runs", {**run, "userRequestText": right, "metadata": {"model": left}, "note": right})
        group = self.service.get(key, "clusters?detector=false_success")["items"][0]["clusterId"]
        page = self.logged_in(key=key)
        mixed = """(() => {
          const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
          const found = [];
          while (walker.nextNode()) {
            const node = walker.currentNode;
            if (!/[\u0590-\u06ff]/.test(node.data) || node.parentElement.closest('option, title')) continue;
            let apart = node.parentElement;
            while (!/isolate|plaintext/.test(getComputedStyle(apart).unicodeBidi)) apart = apart.parentElement;
            if (/[a-z0-9]/i.test(apart.textContent)) found.push(`${apart.localName}: ${apart.textContent}`);
          }
          return found;
        })()"""
        for path in ("runs", f"runs/{urllib.parse.quote(left)}", f"groups/{group}", "changes", f"changes?policy={urllib.parse.quote(left)}"):
            page.go(f"{self.service.url}/ui/{path}")
            self.assertEqual(page.run(mixed), [], path)
            self.assertTrue(page.run(f"/[\u0590-\u06ff]/.test(document.querySelector('main').innerText)"), path)
            page.screenshot(f"{self.pictures}/right-to-left-{path.partition('/')[0].partition('?')[0]}-{len(path)}.png", whole=True)

    def test_texts_are_cut_between_characters(self):
        key = self.service.key("cut")
        run = alarming_run("cut")
        run.update(userRequestText="a" + "\U0001f600" * 3000, outcomeSummary="a" + "\U0001f600" * 2000 + "Your refund has been processed. " + "\U0001f600" * 3000)
        self.service.post(key, "runs", run)
        page = self.logged_in(key=key, path="/ui/runs")
        self.assertEqual(page.run("[...document.querySelectorAll('.clip')].map((one) => [one.textContent.length < 200, one.textContent.isWellFormed()])"), [[True, True]])
        page.go(f"{self.service.url}/ui/runs/cut")
        self.assertEqual(page.run("['request', 'answer'].map((name) => [...document.querySelectorAll(`#${name} pre, #${name} pre *`)].flatMap((one) => [...one.childNodes]).every((one) => one.textContent.isWellFormed()))"), [True, True])

    def test_times_and_shares_are_rounded_to_what_is_so(self):
        page = self.logged_in()
        self.assertEqual(page.run("import('/ui/assets/format.js').then(({usd}) => [0, 0.00002, 0.0001, 0.0042, 0.02, 12.5].map(usd))"), ["$0.00", "< $0.0001", "$0.0001", "$0.0042", "$0.02", "$12.50"])
        shown = page.run("""import('/ui/assets/format.js').then(({duration, ago, percent}) => [[999.6, 59_960, 119_600, 3_599_900, 7_199_000, 86_399_000, 90_000].map(duration),
            [-20_000, -90_000, 20_000].map(ago), [0, 1e-9, 0.000001, 0.000012, 0.0025, 0.00996, 0.0999, 0.5].map(percent)])""")
        self.assertEqual(shown[0], ["1.0 s", "1 min 0 s", "2 min 0 s", "1 h 0 min", "2 h 0 min", "1 d 0 h", "1 min 30 s"])
        self.assertEqual(shown[1], ["just now", "in the future", "just now"], "two clocks are never the same")
        self.assertEqual([one.replace("\u00a0", " ") for one in shown[2]], ["0 %", "0 %", "0.0001 %", "0.0012 %", "0.25 %", "1.0 %", "10 %", "50 %"])

    def test_a_revision_that_was_replaced_offers_nothing_that_is_gone(self):
        key = self.service.key("replaced", "ingest,read,manage")
        call = {"type": "tool_call", "name": "issue_refund", "status": "failed", "error": "502 Bad Gateway"}
        end = {"type": "run_finished", "success": True, "outcomeSummary": "Your refund has been processed."}
        first = self.service.post(key, "events", {"runId": "twice", "events": [{**call, "eventId": "e1"}, {**end, "eventId": "e2"}]})
        self.assertEqual(len(first["failures"]), 1)
        second = self.service.post(key, "events", {"runId": "twice", "events": [{"type": "tool_call", "name": "issue_refund", "status": "ok", "output": "refund issued, order 8842", "eventId": "e3"}, {**end, "eventId": "e4"}]})
        self.assertEqual((second["revision"], second["failures"]), (2, []))
        page = self.logged_in(key=key, path="/ui/runs/twice?revision=1")
        self.see(page, "failure")
        self.assertEqual([page.count(name) for name in ("review-right", "review-false-alarm", "guardrail-open")], [0, 0, 0])
        page.run("document.querySelector('aside a[href$=\"revision=2\"]').click()")
        page.wait("document.querySelector('[data-test=run-page]')?.dataset.revision === '2'", "the latest revision")
        self.assertEqual(page.count("failure"), 0)

    def test_a_reopened_run_shows_what_its_last_revision_failed_with(self):
        key = self.service.key("reopened", "ingest,read,manage")
        self.service.post(key, "events", {"runId": "first", "events": [{"type": "tool_call", "name": "look_up", "status": "ok", "eventId": "e1"}]})
        failures = reopened(self.service, key, "again")
        self.assertEqual([failure["detectorKey"] for failure in failures], ["false_success"])
        page = self.logged_in(key=key, path="/ui/runs")
        for run_id, titles in (("again", [failures[0]["title"]]), ("first", [])):
            found = page.run(f"(() => {{ const found = document.querySelector('[data-row={run_id}] .found'); return [found.querySelector('.badge').innerText, ...[...found.querySelectorAll('p')].map((one) => one.lastChild.textContent.trim())]; }})()")
            self.assertEqual(found, ["Open", *titles])
        page.go(f"{self.service.url}/ui/runs/again")
        self.assertEqual(page.data("run-page", "state"), ["open"])
        self.assertIn("This run goes on", page.text("run-page"))
        self.assertEqual((page.data("failure", "detector"), page.data("step", "primary")), (["false_success"], ["true", "false"]))
        self.assertIn("Found in revision 1", page.text("failure"))
        self.see(page, "review-right")
        page.go(f"{self.service.url}/ui/runs/again?revision=1")
        self.assertEqual(page.count("failure"), 1)
        self.assertNotIn("Found in revision", page.text("failure"))

    def test_a_long_status_fits_a_narrow_screen(self):
        key = self.service.key("narrow")
        status = "failed_" + "waiting_for_a_supervisor_" * 7
        self.service.post(key, "runs", {"runId": "narrow", "steps": [{"stepKind": "tool", "stepName": "issue_refund", "status": status}, {"stepKind": "tool", "stepName": "wait", "status": status.replace("_", " ")}]})
        page = self.logged_in(key=key, path="/ui/runs/narrow", width=320)
        self.assertIn(status, page.text("step"))
        page.screenshot(f"{self.pictures}/narrow-status.png", whole=True)
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 320)

    def test_a_loop_folds(self):
        run = next(run for run in self.service.get(self.keys["samples"], "runs?view=head&limit=200&detector=expensive_loop")["items"] if run["stepCount"] > 6)
        page = self.logged_in(path=f"/ui/runs/{run['runId']}")
        hidden = sum(map(int, page.data("fold", "count")))
        self.assertEqual(hidden + page.count("step"), run["stepCount"])
        self.assertGreater(hidden, 2)
        self.assertIn("evidence", page.text("fold"))
        page.key("f")
        page.wait(f"document.querySelectorAll('[data-test=step]').length === {run['stepCount']}", "the steps unfolded")
        page.key("n")
        page.wait("document.querySelector('mark.current')", "evidence chosen")

    def test_changes_and_how_two_revisions_differ(self):
        page = self.logged_in(path="/ui/changes")
        self.see(page, "change", "timeline", "bar", "mark")
        self.assertEqual(sorted(set(page.data("change", "kind"))), ["code", "policy", "runtime"])
        page.run("[...document.querySelectorAll('[data-test=change] a')].find((one) => one.innerText.includes('sample-refunds')).click()")
        page.wait("document.querySelectorAll('[data-test=policy-revision]').length === 2", "revisions")
        self.assertIn("noReceiptBelowUsd", page.run("document.querySelector('.diff ins:last-of-type').innerText"))

    def test_a_reference_is_text_with_a_button_that_copies_it(self):
        key = self.service.key("references")
        self.service.post(key, "runs", alarming_run("before"))
        self.service.post(key, "changes", {"kind": "code", "ref": "9f3c2d1"})
        self.service.post(key, "policies", {"policy": "refunds", "content": 1, "ref": "docs/refunds.md@7"})
        self.service.post(key, "runs", alarming_run("after"))
        page = self.logged_in(key=key)
        for path in ("runs/after", f"groups/{self.service.get(key, 'clusters')['items'][0]['clusterId']}", "changes"):
            page.go(f"{self.service.url}/ui/{path}")
            self.assertGreater(page.run("document.querySelectorAll('main [aria-label^=\"Copy the reference \"]').length"), 0, path)
        page.go(f"{self.service.url}/ui/changes?policy=refunds")
        self.assertIn("docs/refunds.md@7", page.text("policy-revision"))
        self.assertEqual(page.run("document.querySelectorAll('[data-test=policy-revision] [aria-label=\"Copy the reference docs/refunds.md@7\"]').length"), 1)
        for clipboard, became in (("{writeText: async (text) => { window.copied = text; }}", "Copied"), ("undefined", "Select it by hand")):
            page.run(f"Object.defineProperty(navigator, 'clipboard', {{value: {clipboard}, configurable: true}}); 1")
            page.click("[aria-label=\"Copy the reference docs/refunds.md@7\"]")
            page.wait(f"document.querySelector('[data-test=policy-revision] [role=status]').textContent === '{became}'", "said aloud")
            self.assertEqual(page.run("document.querySelector('[aria-label=\"Copy the reference docs/refunds.md@7\"]').innerText"), became)
        self.assertEqual(page.run("window.copied"), "docs/refunds.md@7")

    def test_a_policy_of_many_revisions_shows_the_one_that_was_asked_for(self):
        key = self.service.key("revisions")
        revision = {"policy": "often", "author": "ann"}
        self.service.post(key, "policies", {**revision, "content": {"limit": 1}, "at": "2026-01-01T00:00:00Z"})
        self.service.post(key, "runs", {"runId": "early", "startedAt": "2026-01-01T12:00:00Z"})
        for i in range(2, 203):
            self.service.post(key, "policies", {**revision, "content": {"limit": i}, "at": f"2026-01-02T{i // 60:02d}:{i % 60:02d}:00Z"})
        page = self.logged_in(key=key, path="/ui/runs/early")
        self.assertIn("revision 1 by ann", page.text("policy"))
        page.click("[data-test=policy] a")
        page.ready("changes")
        self.assertIn('"limit": 1\n', page.run("document.querySelector('main pre').textContent"), "nothing came before it to compare with")
        for asked, chosen in (("to=2", ["1", "2"]), ("to=3", ["2", "3"]), ("from=2", ["2", "202"]), ("", ["201", "202"])):
            page.go(f"{self.service.url}/ui/changes?policy=often&{asked}")
            self.assertEqual(page.run("[...document.querySelectorAll('main select')].map((one) => one.selectedOptions[0].dataset.value)"), chosen, asked)
            self.assertEqual(page.run("document.querySelector('main ins').innerText.trim()"), f'+   "limit": {chosen[1]}', asked)
        page.go(f"{self.service.url}/ui/changes?policy=often&to=203")
        self.assertIn("There is no revision 203", page.run("document.querySelector('main').innerText"))

    def test_a_policy_that_no_address_can_name_is_text(self):
        key = self.service.key("dots")
        for name in (".", ".."):
            self.service.post(key, "policies", {"policy": name, "content": 1, "author": "ann"})
        self.service.post(key, "runs", alarming_run("dotted"))
        page = self.logged_in(key=key, path="/ui/runs/dotted")
        self.assertEqual(page.data("policy", "policy"), [".", ".."])
        self.assertIn("revision 1", page.text("policy"))
        page.go(f"{self.service.url}/ui/changes")
        self.assertEqual(page.count("change"), 2)
        for links in ("[data-test=policy] a", "[data-test=change] a"):
            self.assertEqual(page.run(f"document.querySelectorAll('{links}').length"), 0)
        page.key("j")
        self.assertEqual(page.run("document.activeElement.dataset.test"), "change")
        page.go(f"{self.service.url}/ui/changes?policy=..")
        self.assertIn("cannot ask for this policy", page.run("document.querySelector('main').innerText"))
        self.assertEqual([url for _, url in page.requests if "/v1/policies" in url], [])

    def test_a_group_tells_what_its_runs_have_in_common(self):
        page = self.logged_in(path=self.group_path())
        self.see(page, "difference")
        self.assertEqual((page.data("difference", "dimension")[0], page.data("difference", "value")[0]), ("version", "2.4.1"))
        self.assertIn("of its runs", page.text("difference"))
        self.assertEqual(page.run("document.querySelector('[data-test=difference] a').ariaLabel"), "Compare version 2.4.1")
        page.run("document.querySelector('[data-test=difference] a').click()")
        page.ready("baseline")
        self.assertIn("value=2.4.1", page.run("location.search"))

    def test_baseline_says_whether_a_version_is_worse(self):
        page = self.logged_in(path="/ui/baseline?dimension=version&value=2.4.1&window=7d")
        self.see(page, "rate-this", "rate-against", "rate-difference", "rate-verdict", "baseline-group")
        wanted = self.service.get(self.keys["samples"], "baseline?dimension=version&value=2.4.1&window=7d")
        for name, rate in (("rate-this", wanted["this"]), ("rate-against", wanted["against"])):
            self.assertEqual((page.data(name, "runs"), page.data(name, "failures")), ([str(rate["runs"])], [str(rate["affectedRuns"])]))
            self.assertEqual(float(page.data(name, "low")[0]), rate["low"])
        self.assertEqual(float(page.data("rate-difference", "high")[0]), wanted["difference"]["high"])
        self.assertEqual(page.data("rate-verdict", "verdict"), [wanted["verdict"]])
        self.assertEqual(page.data("baseline-group", "id"), [group["clusterId"] for group in wanted["groups"]])
        page.run("document.querySelector('#f-against [data-value=\"2.4.0\"]').selected = true; document.querySelector('#f-against').dispatchEvent(new Event('change'))")
        page.wait("location.search.includes('against=2.4.0') && document.documentElement.dataset.ready === 'true'", "the other side")
        self.assertIn("2.4.0", page.text("rate-against"))
        page.key("j")
        page.key("o")
        page.ready("group")

    def test_baseline_of_a_value_nobody_sent(self):
        page = self.logged_in(path="/ui/baseline?dimension=version&value=9.9")
        self.assertEqual(page.data("rate-verdict", "verdict"), ["too_few"])
        self.assertEqual(page.data("rate-this", "runs"), ["0"])

    def test_a_filter_by_a_detector_that_is_gone_says_so(self):
        for view in ("groups", "runs"):
            page = self.logged_in(path=f"/ui/{view}?detector=retired")
            self.see(page, "empty")
            self.assertEqual(page.run("document.querySelector('[data-test=filter-detector]').selectedOptions[0].text"), "retired")

    def test_detectors(self):
        page = self.logged_in(path="/ui/detectors")
        self.assertEqual(len(page.data("detector", "key")), 5)
        self.assertEqual(set(page.data("detector", "mode")), {"live"})

    def test_detectors_say_how_many_runs_were_counted(self):
        key = self.service.key("counted")
        self.service.post_runs(key, [{"runId": f"run {i}"} for i in range(600)])
        page = self.logged_in(key=key, path="/ui/detectors")
        counted = "[...document.querySelectorAll('[data-test=detector]')].map((one) => [...one.querySelectorAll('.counts strong')].reduce((sum, each) => sum + Number(each.innerText), 0))"
        self.assertIn("the latest 500 of 600 runs", page.run("document.querySelector('main').innerText"))
        self.assertEqual(page.run(counted), [500] * 5)
        page.click("#more")
        page.wait("document.querySelector('main').innerText.includes('What they said of 600 runs')", "all of them")
        self.assertEqual(page.run(counted), [600] * 5)
        page.go(self.service.url + "/ui/groups")
        self.assertIn("600 runs looked at, last 7 days. Of the latest 200, 200 could not be judged by at least one detector", page.text("empty"))

    def test_runs_are_listed_and_filtered(self):
        page = self.logged_in(path="/ui/runs")
        before = page.run("document.querySelectorAll('[data-row]').length")
        self.assertEqual(before, 50)
        page.click("#more")
        page.wait("document.querySelectorAll('[data-row]').length > 50", "more runs")
        page.choose("filter-detector", "context_overflow")
        page.wait("document.querySelectorAll('[data-row]').length === 1", "one run")

    def test_a_range_of_time_in_the_address_is_told_and_can_be_left(self):
        page = self.logged_in(path="/ui/runs?since=2001-02-03T04:05:06Z")
        self.assertIn("Received from", page.text("filter-time"))
        self.assertIn("2001", page.text("filter-time"))
        page.click("[data-test=filter-time] button")
        page.wait("location.search === '' && !document.querySelector('[data-test=filter-time]')", "any time")
        page.go(self.service.url + "/ui/runs?until=2001-02-03T04:05:06Z")
        self.assertIn("Received until", page.text("filter-time"))
        self.see(page, "empty")

    def test_a_slash_at_the_end_leads_to_the_same_view(self):
        self.expected = [r"401"]
        page = self.logged_in(path="/ui/runs/sample-094/")
        self.assertEqual(page.data("run-page", "id"), ["sample-094"])
        page.go(self.service.url + self.group_path().replace("?", "/?"))
        self.see(page, "group-page")
        page.go(f"{self.service.url}/ui/login/")
        self.see(page, "login-key")

    def test_what_is_not_there_is_said(self):
        self.expected = [r"404"]
        page = self.logged_in(path="/ui/runs/none")
        self.assertIn("none", page.text("error"))
        page.go(self.service.url + "/ui/nothing")
        self.see(page, "error")

    def test_an_address_that_no_request_takes_is_still_a_page(self):
        self.expected = [r"400"]
        page = self.logged_in(path="/ui/groups?q=%00")
        self.assertIn("NUL", page.text("error"))
        self.see(page, "nav-groups")

    def test_a_window_that_there_is_not_is_refused(self):
        self.expected = [r"400"]
        page = self.logged_in()
        for path in ("groups", self.group_path().removeprefix("/ui/").partition("?")[0], "changes", "baseline", "detectors"):
            page.go(f"{self.service.url}/ui/{path}?window=2h&dimension=version&value=2.4.1")
            self.assertIn("window", page.text("error"), path)

    def test_empty_views_say_what_to_do(self):
        page = self.logged_in("empty")
        self.assertIn(self.service.url, page.text("empty-curl"))
        self.assertIn("$KEY", page.text("empty-curl"))
        for view in ("runs", "candidates", "changes", "baseline"):
            page.go(f"{self.service.url}/ui/{view}")
            self.see(page, "empty")
            self.assertIn("second_opinion" if view == "candidates" else "", page.text("empty"))
            page.screenshot(f"{self.pictures}/empty-{view}.png", whole=True)

    def test_runs_that_go_on_are_not_called_none(self):
        key = self.service.key("only-open")
        self.service.post(key, "events", {"runId": "open", "events": [{"type": "tool_call", "name": "look", "status": "ok", "eventId": "e1"}]})
        page = self.logged_in(key=key)
        self.assertIn("No run has ended yet", page.text("empty"))
        self.assertEqual(page.count("empty-curl"), 0)
        page.run("document.querySelector('[data-test=empty] a').click()")
        page.wait("document.querySelector('[data-id=open]')", "the open run")

    def test_nothing_failed_says_who_could_not_judge(self):
        key = self.service.key("fine")
        self.service.post(key, "runs", {"runId": "fine", "userRequestText": "Hello", "outcomeSummary": "Hello!", "success": True})
        page = self.logged_in(key=key)
        self.assertIn("1 run looked at", page.text("empty"))
        self.assertIn("could not be judged", page.text("empty"))
        page.go(self.service.url + "/ui/runs/fine")
        self.assertIn("not_evaluable", page.data("verdict", "status"))
        self.see(page, "verdict-reason", "verdict-hint")

    def test_a_service_without_detectors_says_that_nothing_is_judged(self):
        service = type("Here", (Service,), {"detectors": (), "fill": lambda *_: None})(self.service.runwarden, self.service.plugins, "")
        self.addCleanup(service.close)
        key = service.key("bare")
        service.post(key, "runs", alarming_run("one"))
        page = self.page()
        page.log_in(service.url, key)
        self.assertIn("No detector is live", page.text("empty"))
        page.go(service.url + "/ui/runs")
        self.assertIn("Not judged", page.run("document.querySelector('[data-row=one]').innerText"))
        page.go(service.url + "/ui/runs/one")
        self.assertIn("No detector was live when this run came in", page.text("run-page"))
        self.assertNotIn("No failure", page.text("run-page"))

    def test_a_service_that_fails_is_told_with_the_request_id(self):
        self.expected = [r"500"]
        handler = type("Here", (Broken,), {"target": self.service.port})
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as broken:
            threading.Thread(target=broken.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{broken.server_address[1]}"
            page = self.page()
            page.go(f"{url}/ui/login")
            page.run("document.querySelector('[data-test=login-key]').focus()")
            page.type(self.keys["samples"])
            page.key("Enter")
            page.ready("groups")
            for view in VIEWS:
                page.go(url + self.path_of(view))
                self.assertIn("the disk is on fire", page.text("error"), view)
                self.assertIn("req_500", page.text("error"), view)
            broken.shutdown()

    def test_a_service_that_is_away_is_told_in_views_that_were_not_opened_before(self):
        self.expected = [r"net::ERR_"]
        handler = type("Here", (Leaving,), {"target": self.service.port})
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as leaving:
            threading.Thread(target=leaving.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{leaving.server_address[1]}"
            page = self.page()
            page.log_in(url, self.keys["samples"])
            handler.away = True
            page.click("nav-changes")
            page.wait("document.querySelector('[data-test=error]') && document.documentElement.dataset.ready === 'true'", "the fault")
            self.assertIn("The service does not answer", page.text("error"))
            page.wait("document.querySelector('[data-test=live]').innerText === 'Live: no answer'", "it is not live")
            handler.away = False
            page.wait("document.querySelector('[data-test=live]').innerText === 'Live on'", "it is live again")
            page.wait("document.querySelector('[data-test=change]') && !document.querySelector('[data-test=error]')", "the changes", timeout_s=6)
            handler.away = True
            page.choose("filter-window", "24h")
            page.wait("document.querySelector('[data-test=error]')", "the fault of a filter")
            handler.away = False
            page.wait("document.querySelector('[data-test=filter-window]').value === '24h' && !document.querySelector('[data-test=error]')", "the filter", timeout_s=6)
            leaving.shutdown()

    def test_a_view_that_had_no_room_is_shown_once_there_is_some(self):
        self.expected = [r"503"]
        handler = type("Here", (Crowded,), {"target": self.service.port})
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as crowded:
            threading.Thread(target=crowded.serve_forever, daemon=True).start()
            page = self.page()
            page.log_in(f"http://127.0.0.1:{crowded.server_address[1]}", self.keys["samples"])
            handler.full = True
            page.click("nav-changes")
            page.wait("document.querySelector('[data-test=error]') && document.documentElement.dataset.ready === 'true'", "the fault")
            self.assertIn("req_503", page.text("error"))
            handler.full = False
            page.wait("document.querySelector('[data-test=change]') && !document.querySelector('[data-test=error]')", "the changes", timeout_s=8)
            crowded.shutdown()

    def test_a_view_that_failed_for_a_while_is_shown_afterwards(self):
        self.expected = [r"429|500|502|504"]
        handler = type("Here", (Crowded,), {"target": self.service.port})
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as crowded:
            threading.Thread(target=crowded.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{crowded.server_address[1]}"
            page = self.page()
            page.log_in(url, self.keys["samples"])
            for handler.status, handler.spared in ((502, Crowded.spared), (429, Crowded.spared), (504, "/ui/"), (500, "/ui/")):
                handler.full = True
                page.go(f"{url}/ui/changes")
                self.assertIn("req_503", page.text("error"))
                self.assertEqual(page.run("document.querySelector('[data-test=logout]').checkVisibility()"), handler.spared != "/ui/", "only whose session is known can log out")
                handler.full = False
                page.wait("document.querySelector('[data-test=change]') && !document.querySelector('[data-test=error]')", f"the changes after {handler.status}", timeout_s=8)
            crowded.shutdown()

    def test_a_slow_answer_is_announced(self):
        handler = type("Here", (Slow,), {"target": self.service.port, "gate": threading.Event()})
        handler.gate.set()
        state = "[document.querySelector('main').ariaBusy, document.querySelector('main').dataset.slow !== undefined, document.querySelector('[role=status]').textContent]"
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as slow:
            threading.Thread(target=slow.serve_forever, daemon=True).start()
            page = self.page()
            page.log_in(f"http://127.0.0.1:{slow.server_address[1]}", self.keys["samples"])
            for begin in ("document.querySelector('#f-sort').value = 'count'; document.querySelector('#f-sort').dispatchEvent(new Event('change'))", "document.querySelector('[data-test=nav-groups]').click()"):
                handler.gate.clear()
                page.run(begin)
                page.wait("document.querySelector('[role=status]').textContent === 'Loading'", "it is said")
                self.assertEqual(page.run(state), ["true", True, "Loading"])
                self.assertGreaterEqual(page.run("[...document.querySelectorAll('main, main *')].map((one) => Number(getComputedStyle(one).opacity)).reduce((a, b) => a * b)"), 0.9)
                handler.gate.set()
                page.wait("document.documentElement.dataset.ready === 'true'")
                self.assertEqual(page.run(state), ["false", False, ""])
            slow.shutdown()

    def test_a_fault_is_on_the_screen_until_it_is_over(self):
        self.expected = [r"503"]
        key = self.service.key("crowded", "ingest,read,manage")
        self.service.post(key, "runs", alarming_run("one"))
        group = self.service.get(key, "clusters")["items"][0]["clusterId"]
        handler = type("Here", (Crowded,), {"target": self.service.port})
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as crowded:
            threading.Thread(target=crowded.serve_forever, daemon=True).start()
            page = self.page(height=500)
            page.log_in(f"http://127.0.0.1:{crowded.server_address[1]}", key)
            page.click("group-title")
            page.ready("group")
            handler.full = True
            page.click("triage-resolve")
            page.wait("document.querySelector('[data-test=error]')", "the fault of a decision")
            box = page.run("(() => { const r = document.querySelector('[data-test=error]').getBoundingClientRect(); return [scrollY, r.top, r.bottom, innerHeight]; })()")
            self.assertGreater(box[0], 0, "the reader is further down")
            self.assertTrue(0 <= box[1] < box[2] <= box[3], box)
            page.click("[data-test=error] button")
            self.assertEqual(page.count("error"), 0)
            self.service.post(key, "runs", alarming_run("two"))
            page.wait("document.querySelector('[data-test=error]')", "the fault of a live refresh", timeout_s=6)
            self.assertIn("req_503", page.text("error"))
            handler.full = False
            page.wait("document.querySelectorAll('[data-test=example]').length === 2 && !document.querySelector('[data-test=error]')", "what came in meanwhile", timeout_s=6)
            self.assertEqual(self.service.get(key, f"clusters/{group}")["state"], "new")
            crowded.shutdown()

    def test_the_view_is_measured_and_the_files_are_few(self):
        page = self.logged_in()
        page.go(self.service.url + "/ui/")
        self.assertGreater(page.run("performance.getEntriesByName('view').length"), 0)
        sizes = page.run("[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')].filter((e) => e.name.includes('/ui/')).reduce((sum, e) => sum + e.decodedBodySize, 0)")
        self.assertLess(sizes, 100 * 1024)


class Pictures(PageTest):
    def test_every_view_in_light_dark_and_narrow(self):
        for name, size, scheme in (("light", 1280, "light"), ("dark", 1280, "dark"), ("narrow", 320, "light")):
            page = self.logged_in(width=size, scheme=scheme)
            for view in VIEWS:
                page.go(self.service.url + self.path_of(view))
                page.screenshot(f"{self.pictures}/{name}-{view}.png", whole=True)
                self.assertEqual(page.run("document.documentElement.dataset.theme"), "dark" if scheme == "dark" else "light")
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), size, f"{view}: no sideways scrolling")
                self.assertEqual(page.run("document.querySelectorAll('h1').length"), 1, view)
                self.assertEqual(page.count("skeleton"), 0)
            page.go(self.service.url + "/ui/login")
            page.screenshot(f"{self.pictures}/{name}-login.png")


class Sessions(PageTest):
    def fill_in(self, page, key):
        page.wait("document.querySelector('[data-test=login-key]')")
        page.run("document.querySelector('[data-test=login-key]').value = ''; document.querySelector('[data-test=login-key]').focus()")
        page.type(key)
        page.click("login-submit")

    def test_a_stranger_is_led_to_the_login_and_back(self):
        self.expected = [r"401"]
        page = self.page()
        page.go(self.service.url + "/ui/runs/sample-094?revision=1")
        page.ready("login")
        self.assertEqual(page.count("logout"), 1)
        self.assertFalse(page.run("document.querySelector('[data-test=logout]').checkVisibility()"))
        self.fill_in(page, self.keys["samples"])
        page.ready("run")
        self.assertEqual(page.run("location.pathname + location.search"), "/ui/runs/sample-094?revision=1")
        self.assertEqual(page.run("document.cookie"), "", "out of reach for scripts")
        self.assertNotIn("rw_", page.run("JSON.stringify({...localStorage}) + location.href"))
        page.click("logout")
        page.ready("login")
        page.go(self.service.url + "/ui/groups")
        page.ready("login")

    def test_a_session_that_could_not_be_ended_goes_on_and_says_so(self):
        self.expected = [r"503"]
        handler = type("Here", (Keeping,), {"target": self.service.port})
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as keeping:
            threading.Thread(target=keeping.serve_forever, daemon=True).start()
            page = self.page()
            page.log_in(f"http://127.0.0.1:{keeping.server_address[1]}", self.keys["samples"])
            page.click("logout")
            page.wait("document.querySelector('[data-test=error]')", "the fault")
            looks = "performance.getEntriesByType('resource').filter((one) => one.name.endsWith('/v1/session')).length"
            before = page.run(looks)
            page.wait(f"{looks} > {before + 2}", "two looks at the session")
            self.assertIn("no room", page.text("error"))
            handler.full = False
            page.click("logout")
            page.ready("login")
            keeping.shutdown()

    def test_wrong_keys_are_refused_in_words(self):
        self.expected = [r"401", r"403"]
        page = self.page()
        page.go(self.service.url + "/ui/login")
        self.fill_in(page, "rw_wrong")
        page.wait("document.querySelector('[data-test=login-error]').innerText.includes('unknown key')", "the reason")
        field = "document.querySelector('[data-test=login-key]')"
        self.assertEqual(page.run(f"[{field}.ariaInvalid, {field}.getAttribute('aria-describedby').split(' ').map((id) => document.getElementById(id).dataset.test ?? id)]"),
                         ["true", ["login-error", "key-hint"]], "the field says so")
        self.fill_in(page, self.service.key("samples", "ingest"))
        page.wait("document.querySelector('[data-test=login-error]').innerText.includes('scope')", "the scope")

    def test_next_leads_nowhere_else(self):
        for target in ("//evil.example", "/ui//evil.example", "https://evil.example", "/ui/\\evil", "javascript:alert(1)", "/v1/runs", "/ui/../v1/runs", "/ui/%2e%2e/v1/runs", "/ui/\x85groups",
                       "/ui/runs/../login"):
            page = self.page()
            page.go(f"{self.service.url}/ui/login?{urllib.parse.urlencode({'next': target})}")
            self.fill_in(page, self.keys["samples"])
            page.ready("groups")
            self.assertEqual(page.run("location.pathname"), "/ui/", target)

    def test_a_revoked_key_ends_its_page_within_a_second(self):
        self.expected = [r"401"]
        key = self.service.key("samples", "read")
        page = self.logged_in(key=key)
        self.service.command("keys", "revoke", "key_" + key[3:19])
        began = time.monotonic()
        page.wait("document.documentElement.dataset.view === 'login'", "logged out")
        self.assertLess(time.monotonic() - began, 1.5)
        page.ready("login")
        self.assertIn("Your session has ended", page.text("login-ended"))
        self.fill_in(page, self.keys["samples"])
        page.ready("groups")
        page.click("logout")
        page.ready("login")
        self.assertEqual(page.count("login-ended"), 0, "whoever logs out knows")

    def test_a_login_in_another_tab_shows_whose_data_it_is(self):
        """The tabs of a browser share the cookie."""
        self.expected = [r"400.*/v1/tail"]
        theirs = self.service.key("other-tab-2", "ingest,read,manage")
        self.service.post(theirs, "runs", alarming_run("theirs"))
        page = self.logged_in()
        page.adopt(self.service.url, self.service.session(theirs))
        page.click("nav-runs")
        page.ready("runs")
        self.assertEqual((page.text("tenant"), page.run("[...document.querySelectorAll('[data-row]')].map((one) => one.dataset.id)")), ("other-tab-2", ["theirs"]))
        page.adopt(self.service.url, self.service.session(self.keys["samples"]))
        page.wait("document.querySelector('[data-test=tenant]').innerText === 'samples' && document.querySelector('[data-row=sample-094]')", "the session that is there now")

    def test_what_was_drafted_in_one_session_is_not_shown_in_the_next(self):
        """Groups that fail the same way have the same address for every tenant."""
        self.expected = [r"400.*/v1/tail"]
        mine, theirs = self.service.key("draft-1", "ingest,read"), self.service.key("draft-2", "ingest,read")
        for key, run in (mine, "one"), (theirs, "two"):
            self.service.post(key, "runs", alarming_run(run))
        group = self.service.get(theirs, "clusters")["items"][0]
        page = self.logged_in(key=mine, path=f"/ui/groups/{group['clusterId']}")
        page.click("guardrail-open")
        page.wait("document.querySelector('[data-test=guardrail-draft]')", "the draft")
        page.click("nav-runs")
        page.ready("runs")
        page.adopt(self.service.url, self.service.session(theirs))
        page.wait("document.querySelector('[data-test=tenant]').innerText === 'draft-2'", "the session that is there now")
        page.ready("runs")
        page.run("history.back()")
        page.ready("group")
        page.click("guardrail-open")
        page.wait("document.querySelector('[data-test=guardrail-draft]')", "the draft")
        failure = self.service.get(theirs, "failures")["items"][0]["failureId"]
        self.assertIn(failure, page.run("document.querySelector('[data-test=guardrail-draft]').textContent"))

    def test_a_login_in_another_tab_changes_what_may_be_done(self):
        self.service.post(self.service.key("again"), "runs", alarming_run("one"))
        group = self.service.get(self.service.key("again"), "clusters")["items"][0]["clusterId"]
        page = self.logged_in(key=self.service.key("again", "read"), path=f"/ui/groups/{group}")
        self.assertEqual(page.count("triage-resolve"), 0)
        page.adopt(self.service.url, self.service.session(self.service.key("again", "read,manage")))
        page.click("triage-resolve")
        page.wait("document.querySelector('[data-test=group-page]')?.dataset.state === 'resolved'", "resolved")

    def test_a_browser_that_keeps_no_cookie_is_told(self):
        self.expected = [r"401"]
        handler = type("Here", (WithoutCookies,), {"target": self.service.port})
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
            page = self.page()
            page.go(f"http://127.0.0.1:{proxy.server_address[1]}/ui/login")
            self.fill_in(page, self.keys["samples"])
            page.wait("document.querySelector('[data-test=login-error]').innerText.includes('did not keep the cookie')", "the reason")
            proxy.shutdown()

    def test_another_tenant_in_the_same_tab_follows_from_its_own_position(self):
        others = self.service.key("other-tab")
        page = self.logged_in()
        page.wait("performance.getEntriesByType('resource').some((one) => one.name.includes('/v1/tail?after='))", "the first tenant's page follows")
        page.click("logout")
        page.ready("login")
        self.fill_in(page, others)
        page.ready("groups")
        self.service.post(others, "runs", alarming_run("theirs"))
        page.wait("document.querySelector('[data-test=group]')", "the other tenant's group", timeout_s=6)

    def test_two_tenants_in_two_profiles(self):
        self.expected = [r"404"]
        key = self.service.key("other")
        self.service.post(key, "runs", {"runId": "other-run"})
        page = self.logged_in(key=key)
        self.assertEqual(page.text("tenant"), "other")
        page.go(self.service.url + "/ui/runs/sample-094")
        self.see(page, "error")
        mine = self.logged_in(path="/ui/runs/other-run")
        self.see(mine, "error")


class Keyboard(PageTest):
    def test_from_the_list_to_the_evidence_and_back(self):
        page = self.logged_in()
        page.key("j")
        page.key("j")
        chosen = page.run("[...document.querySelectorAll('[data-test=group]')].findIndex((one) => one.getAttribute('aria-current') === 'true')")
        self.assertEqual(chosen, 1)
        page.key("k")
        title = page.run("document.querySelector('[aria-current=true] [data-test=group-title]').innerText")
        page.key("Enter")
        page.ready("group")
        self.assertEqual(page.run("document.activeElement.innerText"), title, "the heading has the focus")
        page.key("u")
        page.ready("groups")
        page.key("j")
        page.key("o")
        page.ready("group")
        for letter, view in (("r", "runs"), ("a", "candidates"), ("c", "changes"), ("b", "baseline"), ("d", "detectors"), ("g", "groups")):
            page.key("g")
            page.key(letter)
            page.ready(view)

    def test_up_leads_to_the_list_as_it_was_left(self):
        key = self.service.key("up", "ingest,read,manage")
        self.service.post(key, "runs", alarming_run("one"))
        for address, view in (("/ui/groups?window=24h&detector=false_success&sort=count", "group"), ("/ui/?window=30d&state=all", "group"), ("/ui/runs?detector=false_success", "run")):
            page = self.logged_in(key=key, path=address)
            page.key("j")
            page.key("Enter")
            page.ready(view)
            page.reload()
            self.assertEqual(page.run("document.querySelector('.crumbs a').getAttribute('href')"), address)
            page.key("u")
            page.ready(f"{view}s")
            self.assertEqual(page.run("location.pathname + location.search"), address)

    def test_back_and_up_lead_to_the_place_in_a_list(self):
        key = self.service.key("place")
        self.service.post_runs(key, [{"runId": f"run {i}"} for i in range(120)])
        page = self.logged_in(key=key, path="/ui/runs")
        page.click("#more")
        page.wait("document.querySelectorAll('[data-row]').length === 100 && document.documentElement.dataset.ready === 'true'", "two pages")
        page.key("k")
        page.key("k")
        place = ("(() => { const chosen = document.querySelector('[aria-current=true]'), r = chosen?.getBoundingClientRect();"
                 " return [document.querySelectorAll('[data-row]').length, chosen?.dataset.row, scrollY > 0, r?.top >= 0 && r?.bottom <= innerHeight]; })()")
        there = page.run(place)
        last_but_one = page.run("document.querySelectorAll('[data-row]')[98].dataset.row")
        self.assertEqual(there, [100, last_but_one, True, True])
        for way in ("history.back()", "document.querySelector('.crumbs a').click()"):
            page.key("Enter")
            page.ready("run")
            self.assertEqual(page.run("scrollY"), 0)
            page.run(way)
            page.ready("runs")
            self.assertEqual(page.run(place), there, way)
        page.key("o")
        page.ready("run")
        page.key("u")
        page.ready("runs")
        self.assertEqual(page.run(place), there, "u")
        page.click("nav-groups")
        page.ready("groups")
        page.click("nav-runs")
        page.ready("runs")
        self.assertEqual(page.run(place)[:3], [50, None, False], "a list that is opened begins at its top")

    def test_up_leads_to_the_list_over_steps_and_revisions(self):
        key = self.service.key("up-steps")
        call = {"type": "tool_call", "name": "issue_refund", "status": "failed", "error": "502 Bad Gateway"}
        end = {"type": "run_finished", "success": True, "outcomeSummary": "Your refund has been processed."}
        for i in range(2):
            self.service.post(key, "events", {"runId": "twice", "events": [{**call, "eventId": f"call {i}"}, {**end, "eventId": f"end {i}"}]})
        address = "/ui/runs?detector=false_success"
        page = self.logged_in(key=key, path=address)
        page.key("j")
        page.key("Enter")
        page.ready("run")
        asked = len(page.requests)
        page.run("document.querySelector('.skip').focus()")
        page.key("Enter")
        self.assertEqual(page.run("[document.activeElement.id, location.hash]"), ["main", ""])
        self.assertEqual([url for _, url in list(page.requests)[asked:] if "/v1/runs/" in url], [], "the view stays")
        page.run("document.querySelector('aside a[href$=\"revision=1\"]').click()")
        page.wait("document.querySelector('[data-test=run-page]')?.dataset.revision === '1' && document.documentElement.dataset.ready === 'true'", "the first revision")
        page.run("history.replaceState(history.state, '', `${location.search}#step-1`)")
        page.key("u")
        page.ready("runs")
        self.assertEqual(page.run("location.pathname + location.search"), address)

    def test_each_failure_of_a_long_run_leads_to_its_step(self):
        key = self.service.key("two-failures")
        search = {"stepKind": "tool", "stepName": "search", "status": "ok", "inputSummary": "order 1", "outputSummary": "nothing found"}
        steps = [search] * 10 + [{"stepKind": "tool", "stepName": f"read_page_{i}", "status": "ok", "inputSummary": str(i), "outputSummary": str(i)} for i in range(600)]
        self.service.post(key, "runs", {**alarming_run("long"), "steps": steps + alarming_run("long")["steps"][1:]})
        page = self.logged_in(key=key, path="/ui/runs?detector=false_success")
        page.key("j")
        page.key("Enter")
        page.ready("run")
        self.assertEqual(page.count("failure"), 2)
        self.assertEqual(page.run("document.querySelector('#step-611') === null"), True, "it is far from the first failure")
        page.run("document.querySelector('a[href=\"#step-611\"]').click()")
        page.wait("document.querySelector('#step-611')?.open && location.hash === '#step-611' && document.documentElement.dataset.ready === 'true'", "the step of the second failure")
        box = page.run("(() => { const r = document.querySelector('#step-611').getBoundingClientRect(); return [r.top, innerHeight]; })()")
        self.assertTrue(0 <= box[0] < box[1], "it is on the screen")
        page.run("document.querySelector('a[href=\"#step-611\"]').click()")
        self.assertEqual(page.run("document.activeElement.closest('.step')?.id"), "step-611", "it has the focus")
        self.assertEqual(page.run("document.querySelector('.crumbs a').getAttribute('href')"), "/ui/runs?detector=false_success")

    def test_changes_are_walked_row_by_row(self):
        key = self.service.key("walked")
        for i in range(3):
            self.service.post(key, "changes", {"kind": "code", "summary": f"Deploy {i}", **({"ref": "9f3c2d1"} if i == 1 else {})})
        page = self.logged_in(key=key, path="/ui/changes")
        for i in range(3):
            page.key("j")
            self.assertEqual(page.run("[...document.querySelectorAll('[data-test=change]')].indexOf(document.activeElement)"), i)
            page.key("o")
        self.assertEqual(page.run("[...document.querySelectorAll('[data-test=change] button')].map((one) => one.innerText)"), ["Copy"])

    def test_up_leads_back_to_the_group_of_an_example(self):
        address = self.group_path().replace("7d", "24h")
        page = self.logged_in(path="/ui/groups?window=24h&detector=false_success&state=all")
        page.key("j")
        page.key("Enter")
        page.ready("group")
        page.click("example")
        page.ready("run")
        self.assertEqual(page.run("[document.querySelector('.crumbs a').getAttribute('href'), document.querySelector('.crumbs').innerText]"), [address, "Group"])
        page.key("u")
        page.ready("group")
        self.assertEqual(page.run("location.pathname + location.search"), address)
        page.key("u")
        page.ready("groups")
        self.assertEqual(page.run("location.search"), "?window=24h&detector=false_success&state=all", "the list that led to the group")

    def test_a_run_is_opened_by_its_id(self):
        page = self.logged_in(path="/ui/runs")
        page.key("/")
        self.assertEqual(page.run("document.activeElement.dataset.test"), "open-run")
        page.type(" sample-094 ")
        page.key("Enter")
        page.ready("run")
        self.assertEqual(page.data("run-page", "id"), ["sample-094"])

    def test_evidence_one_after_the_other(self):
        page = self.logged_in(path="/ui/runs/sample-094")
        page.key("n")
        first = page.run("document.querySelector('mark.current').dataset.pointer")
        page.key("n")
        self.assertNotEqual(page.run("document.querySelector('mark.current').dataset.pointer"), first)
        page.key("p")
        self.assertEqual(page.run("document.querySelector('mark.current').dataset.pointer"), first)

    def test_evidence_in_folded_steps_is_reached(self):
        key = self.service.key("folded")
        run = alarming_run("loop")
        run["steps"] = [{"stepKind": "tool", "stepName": "look_up", "status": "failed", "inputSummary": "order 8842", "errorMessage": "502 Bad Gateway"}] * 8
        failures = self.service.post(key, "runs", run)["failures"]
        self.assertIn("expensive_loop", [one["detectorKey"] for one in failures])
        steps = sorted({int(pointer.split("/")[2]) for one in failures for pointer in (each["pointer"] for each in one["evidence"]) if pointer.startswith("/steps/")})
        self.assertGreater(len(steps), 5)
        page = self.logged_in(key=key, path="/ui/runs/loop")
        for letter, wanted in (("n", steps), ("p", steps[::-1])):
            page.reload()
            self.assertGreater(page.count("fold"), 0)
            seen = []
            while len(seen) < len(wanted):
                page.key(letter)
                at = page.run("document.querySelector('mark.current:focus')?.checkVisibility() ? document.querySelector('mark.current').closest('[data-test=step]')?.dataset.index : 'hidden'")
                if at is not None and (not seen or seen[-1] != int(at)):
                    seen.append(int(at))
            self.assertEqual(seen, wanted)

    def test_evidence_in_steps_that_are_not_drawn_is_reached(self):
        key = self.service.key("far-evidence", "ingest,read,manage")
        search = {"stepKind": "tool", "stepName": "search", "status": "ok", "inputSummary": "order 1", "outputSummary": "nothing found"}
        steps = [{"stepKind": "tool", "stepName": f"read_page_{i}", "status": "ok", "inputSummary": str(i), "outputSummary": str(i)} for i in range(900)]
        run = {**alarming_run("far"), "steps": [search] * 700 + steps + alarming_run("far")["steps"][1:]}
        failures = self.service.post(key, "runs", run)["failures"]
        self.assertEqual({failure["detectorKey"] for failure in failures}, {"expensive_loop", "false_success"})
        wanted = {item["pointer"] for failure in failures for item in failure["evidence"]}
        self.assertIn("/steps/1600/errorMessage", wanted)
        in_loop = [pointer for pointer in wanted if re.match("/steps/[0-6]?[0-9]{1,2}/", pointer)]
        page = self.logged_in(key=key, path="/ui/runs/far")
        self.assertEqual(page.run("document.querySelector('#step-1601') === null"), True)
        pointer = "document.querySelector('mark.current').dataset.pointer"
        page.key("p")
        page.key("p")
        while page.run(pointer) in ("/outcomeSummary", "/success"):
            page.key("p")
        self.assertEqual(page.run(pointer), "/steps/1600/errorMessage")
        self.assertEqual(page.run("document.activeElement === document.querySelector('mark.current') && document.activeElement.checkVisibility()"), True)
        page.key("p")
        self.assertIn(page.run(pointer), in_loop)
        page.key("y")
        page.wait("document.querySelector('[data-test=failure]').dataset.review === 'right' && document.documentElement.dataset.ready === 'true'", "a refresh")
        self.assertTrue(page.run("document.querySelector('#step-1601') !== null"), "what was drawn stays")

    def test_theme_live_help_and_search(self):
        page = self.logged_in()
        page.key("t")
        self.assertEqual(page.run("document.documentElement.dataset.theme"), "dark")
        page.key("l")
        self.assertEqual(page.data("live", "state"), ["off"])
        page.reload()
        self.assertEqual(page.run("document.documentElement.dataset.theme"), "dark", "kept")
        self.assertEqual(page.data("live", "state"), ["off"])
        page.key("?")
        page.wait("document.querySelector('[data-test=help]').open")
        page.click("shortcuts-toggle")
        page.key("Escape")
        page.wait("!document.querySelector('[data-test=help]').open")
        page.key("t")
        self.assertEqual(page.run("document.documentElement.dataset.theme"), "dark", "letters are off")
        page.run("localStorage.clear()")
        page.reload()
        page.key("/")
        self.assertEqual(page.run("document.activeElement.dataset.test"), "search")
        page.type("t")
        self.assertEqual(page.run("document.documentElement.dataset.theme"), "light", "not while typing")
        page.key("Escape")
        page.key("t", modifiers=2)
        self.assertEqual(page.run("document.documentElement.dataset.theme"), "light", "not with Ctrl")

    def test_escape_empties_a_search_before_it_leaves_it(self):
        page = self.logged_in()
        groups = page.count("group")
        page.go(f"{self.service.url}/ui/groups?q=no+such+text")
        self.see(page, "empty")
        page.key("/")
        page.key("Escape")
        page.wait("location.search === '' && document.documentElement.dataset.ready === 'true'", "no search")
        self.assertEqual(page.run("[document.activeElement.dataset.test, document.activeElement.value]"), ["search", ""])
        self.assertEqual(page.count("group"), groups)
        page.key("Escape")
        self.assertEqual(page.run("document.activeElement.localName"), "body")

    def test_what_is_switched_in_one_tab_is_switched_in_all(self):
        page = self.logged_in()
        other = self.page(beside=page)
        other.go(self.service.url + "/ui/runs")
        other.key("t")
        other.key("?")
        other.click("shortcuts-toggle")
        page.wait("document.documentElement.dataset.theme === 'dark' && !document.querySelector('[data-test=shortcuts-toggle]').checked", "as the other tab")
        page.key("t")
        self.assertEqual(page.run("document.documentElement.dataset.theme"), "dark", "letters are no keys")

    def test_a_key_that_is_held_decides_once_and_goes_on_walking(self):
        key = self.service.key("held", "ingest,read,manage")
        for name in "abcd":
            run = alarming_run(name)
            run["steps"][1]["stepName"] = f"refund_{name}"
            self.service.post(key, "runs", run)
        page = self.logged_in(key=key)
        for held in (False, True):
            page.key("t", held=held)
            self.assertEqual(page.run("document.documentElement.dataset.theme"), "dark")
        for held in (False, True, True):
            page.key("j", held=held)
        chosen = "[...document.querySelectorAll('[data-row]')].findIndex((one) => one.ariaCurrent === 'true')"
        self.assertEqual(page.run(f"[document.querySelectorAll('[data-row]').length > 3, {chosen}]"), [True, 2])
        for held in (False, True):
            page.key("e", held=held)
            page.wait(f"document.querySelectorAll('[data-test=group]').length < 4 && document.documentElement.dataset.ready === 'true'", "resolved")
        self.assertEqual([url for method, url in page.requests if method == "POST"], [f"{self.service.url}/v1/clusters/{self.service.get(key, 'clusters?state=resolved')['items'][0]['clusterId']}/triage"])

    def test_nothing_is_opened_behind_the_help(self):
        page = self.logged_in()
        page.key("j")
        page.key("?")
        page.click("dialog h2")
        page.key("Enter")
        page.key("Escape")
        page.wait("!document.querySelector('[data-test=help]').open", "the help closed")
        self.assertEqual(page.run("document.documentElement.dataset.view"), "groups")

    def test_tab_and_enter_alone(self):
        page = self.logged_in()
        for _ in range(40):
            page.key("Tab")
            if page.run("document.activeElement.dataset.test") == "group-title":
                break
        self.assertEqual(page.run("document.activeElement.dataset.test"), "group-title")
        self.assertNotEqual(page.run("getComputedStyle(document.activeElement).outlineStyle"), "none", "the focus can be seen")
        page.key("Enter")
        page.ready("group")

    def test_the_focus_stays_after_an_action_and_a_refresh(self):
        key = self.service.key("focus", "ingest,read,manage")
        self.service.post(key, "runs", alarming_run("one"))
        group = self.service.get(key, "clusters")["items"][0]["clusterId"]
        focused = "[document.activeElement.dataset.test, document.activeElement.innerText]"
        page = self.logged_in(key=key, path="/ui/runs/one")
        page.run("document.querySelector('[data-test=review-right]').focus()")
        page.key("Enter")
        page.wait("document.querySelector('[data-test=failure]').dataset.review === 'right' && document.documentElement.dataset.ready === 'true'", "reviewed")
        self.assertEqual(page.run(focused), ["review-right", "Right"])
        page.go(f"{self.service.url}/ui/groups/{group}")
        page.run("document.querySelector('[data-test=example]').focus()")
        self.service.post(key, "runs", alarming_run("two"))
        page.wait("document.querySelectorAll('[data-test=example]').length === 2", "the second run", timeout_s=6)
        self.assertEqual(page.run(focused), ["example", "one"])
        page.run("document.querySelector('[data-test=triage-resolve]').focus()")
        page.key("Enter")
        page.wait("document.querySelector('[data-test=group-page]').dataset.state === 'resolved'", "resolved")
        self.assertEqual(page.run(focused), ["triage-resolve", "Resolve"])
        page.run("document.querySelector('[data-test=triage-reopen]').focus()")
        page.key("Enter")
        page.wait("document.querySelector('[data-test=group-page]').dataset.state === 'new'", "reopened")
        self.assertEqual(page.run("document.activeElement.localName"), "h1", "the button is gone")

    def test_a_link_to_the_address_that_is_shown_makes_no_history(self):
        page = self.logged_in(path="/ui/runs")
        entries = page.run("history.length")
        for _ in range(2):
            page.click("nav-runs")
            page.ready("runs")
        self.assertEqual(page.run("history.length"), entries)
        page.click("nav-changes")
        page.ready("changes")
        self.assertEqual(page.run("history.length"), entries + 1)

    def test_back_forward_reload_and_a_pasted_address(self):
        self.expected = [r"401"]
        page = self.logged_in()
        page.click("nav-runs")
        page.ready("runs")
        page.click("nav-changes")
        page.ready("changes")
        page.run("history.back()")
        page.ready("runs")
        page.run("history.back()")
        page.ready("groups")
        page.run("history.forward()")
        page.ready("runs")
        page.reload()
        page.ready("runs")
        fresh = self.page()
        fresh.go(self.service.url + "/ui/changes?kind=code")
        fresh.ready("login")
        fresh.run("document.querySelector('[data-test=login-key]').focus()")
        fresh.type(self.keys["samples"])
        fresh.key("Enter")
        fresh.ready("changes")
        self.assertEqual(set(fresh.data("change", "kind")), {"code"})


class Triage(PageTest):
    def test_a_group_is_resolved_and_opened_again(self):
        key = self.service.key("triage", "ingest,read,manage")
        self.service.post(key, "runs", probe_run("one"))
        page = self.logged_in(key=key)
        group = page.data("group", "id")[0]
        page.key("j")
        page.key("e")
        page.wait("document.querySelectorAll('[data-test=group]').length === 0 && document.documentElement.dataset.ready === 'true'", "no open group")
        page.go(f"{self.service.url}/ui/groups?state=resolved")
        self.assertEqual(page.data("group", "state"), ["resolved"])
        page.go(f"{self.service.url}/ui/groups/{group}?window=7d")
        self.see(page, "history-item", "triage-reopen", "triage-note")
        page.click("triage-reopen")
        page.wait("document.querySelector('[data-test=group-page]').dataset.state === 'new'", "reopened")
        page.run("document.querySelector('[data-test=triage-note]').focus()")
        page.type("A known fault")
        page.click("triage-ignore")
        page.wait("document.querySelector('[data-test=group-page]').dataset.state === 'ignored'", "ignored")
        self.assertIn("A known fault", page.text("history-item"))

    def test_the_row_after_a_group_that_left_the_list_is_the_next_to_decide(self):
        key = self.service.key("inbox", "ingest,read,manage")
        for i in range(4):
            run = alarming_run(f"run {i}")
            run["steps"][1]["stepName"] = f"issue_refund_{'abcd'[i]}"
            self.service.post(key, "runs", run)
        page = self.logged_in(key=key)
        ids = page.data("group", "id")
        self.assertEqual(len(ids), 4)
        page.key("j")
        page.key("j")
        at = ("(() => { const row = document.querySelector('[data-test=group][aria-current=true]');"
              " return [row?.dataset.id, document.activeElement === row?.querySelector('a')]; })()")
        self.assertEqual(page.run(at), [ids[1], True])
        for letter, gone, now in (("e", ids[1], ids[2]), ("i", ids[2], ids[3]), ("e", ids[3], ids[0])):
            page.key(letter)
            page.wait(f"!document.querySelector('[data-id={gone}]') && document.documentElement.dataset.ready === 'true'", f"{letter}: the group has left")
            self.assertEqual(page.run(at), [now, True], letter)
        page.key("e")
        page.wait("document.querySelector('[data-test=empty]') && document.documentElement.dataset.ready === 'true'", "no group is left")
        self.assertEqual(page.run("document.activeElement.localName"), "h1")

    def test_another_filter_chooses_no_row(self):
        key = self.service.key("other-filter")
        self.service.post(key, "runs", alarming_run("one"))
        self.service.post(key, "runs", blank_run("two"))
        page = self.logged_in(key=key, path="/ui/groups?detector=false_success")
        page.key("j")
        page.choose("filter-detector", "schema_ghost")
        page.wait("document.querySelector('[data-test=group]')?.dataset.detector === 'schema_ghost' && document.documentElement.dataset.ready === 'true'", "the other list")
        self.assertEqual(page.run("document.querySelectorAll('[data-row][aria-current]').length"), 0)

    def test_what_was_done_to_a_group_is_shown_page_by_page(self):
        key = self.service.key("decided", "ingest,read,manage")
        self.service.post(key, "runs", alarming_run("one"))
        group = self.service.get(key, "clusters")["items"][0]["clusterId"]
        for i in range(60):
            request = urllib.request.Request(f"{self.service.url}/v1/clusters/{group}/triage", json.dumps({"action": ("resolve", "reopen")[i % 2]}).encode(),
                                             {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
            urllib.request.urlopen(request, timeout=30).close()
        page = self.logged_in(key=key, path=f"/ui/groups/{group}")
        self.assertEqual(page.count("history-item"), 50)
        page.click("#more")
        page.wait("document.querySelectorAll('[data-test=history-item]').length === 60 && !document.querySelector('#more')", "the rest")

    def test_each_state_offers_what_leads_out_of_it(self):
        key = self.service.key("states", "ingest,read,manage")
        self.service.post(key, "runs", alarming_run("one"))
        page = self.logged_in(key=key, path=f"/ui/groups/{self.service.get(key, 'clusters')['items'][0]['clusterId']}")

        def is_now(state, *offered):
            page.wait(f"document.querySelector('[data-test=group-page]')?.dataset.state === '{state}' && document.documentElement.dataset.ready === 'true'", state)
            self.assertEqual([name for name in ("resolve", "ignore", "reopen") if page.count(f"triage-{name}")], list(offered), state)

        is_now("new", "resolve", "ignore")
        page.key("i")
        is_now("ignored", "resolve", "ignore", "reopen")
        page.run("document.querySelector('#f-until').value = 'week'")
        page.click("triage-ignore")
        page.wait("document.querySelector('[data-test=history-item]').innerText.includes('until 20')", "another end")
        page.key("e")
        is_now("resolved", "resolve", "ignore", "reopen")
        page.key("i")
        is_now("ignored", "resolve", "ignore", "reopen")
        page.click("triage-resolve")
        is_now("resolved", "resolve", "ignore", "reopen")
        self.service.post(key, "runs", alarming_run("two"))
        page.reload()
        is_now("regressed", "resolve", "ignore", "reopen")
        page.click("triage-reopen")
        is_now("new", "resolve", "ignore")

    def test_what_is_pressed_twice_is_done_once(self):
        key = self.service.key("twice", "ingest,read,manage")
        self.service.post(key, "runs", alarming_run("one"))
        group = self.service.get(key, "clusters")["items"][0]["clusterId"]
        page = self.logged_in(key=key, path=f"/ui/groups/{group}")
        press_twice = "for (let i = 0; i < 2; ++i) document.querySelector('[data-test={}]').click()"
        page.run(press_twice.format("triage-resolve"))
        page.wait("document.querySelector('[data-test=group-page]').dataset.state === 'resolved'", "resolved")
        page.click("guardrail-open")
        page.wait("document.querySelector('[data-test=guardrail-accept]')", "the draft")
        page.run(press_twice.format("guardrail-accept"))
        page.wait("document.querySelector('[data-test=guardrail-accept]').innerText === 'Accepted'", "accepted")
        self.service.post(key, "changes", {"kind": "code"})
        page.wait("document.querySelectorAll('[data-test=mark]').length === 2 && document.querySelector('[data-test=guardrail-draft]')", "a refresh", timeout_s=6)
        self.assertEqual(page.run("[document.querySelector('[data-test=guardrail-accept]').disabled, document.querySelector('[data-test=guardrail-accept]').innerText]"), [True, "Accepted"])
        page.go(f"{self.service.url}/ui/groups?state=resolved")
        page.key("j")
        page.key("i")
        page.key("i")
        page.wait("document.querySelectorAll('[data-test=group]').length === 0 && document.documentElement.dataset.ready === 'true'", "ignored")
        self.assertEqual([item["action"] for item in self.service.get(key, f"clusters/{group}/history")["items"]], ["ignore", "resolve"])
        self.assertEqual(len(self.service.get(key, "policies/false-success-issue-refund")["items"]), 1)

    def test_a_guardrail_is_drafted_on_demand_and_accepted(self):
        key = self.service.key("guardrails", "ingest,read")
        self.service.post(key, "runs", {"runId": "g1", "success": True, "outcomeSummary": "Your refund has been processed.",
                                        "steps": [{"stepKind": "tool", "stepName": "issue_refund", "status": "failed", "errorMessage": "502 Bad Gateway"}]})
        page = self.logged_in(key=key, path="/ui/runs/g1")
        self.assertEqual(page.count("guardrail-draft"), 0)
        page.click("guardrail-open")
        page.wait("document.querySelector('[data-test=guardrail-draft]')", "the draft")
        self.assertIn("name: false-success-issue-refund\n", page.run("document.querySelector('[data-test=guardrail-draft]').textContent"))
        page.click("guardrail-accept")
        page.wait("document.querySelector('[data-test=guardrail-accept]').disabled", "the draft accepted")
        policy = self.service.get(key, "policies/false-success-issue-refund")["items"][0]
        self.assertNotIn("test", policy["content"])
        self.assertEqual(policy["ref"], policy["content"]["source"]["failureId"])
        group = self.service.get(key, "clusters")["items"][0]["clusterId"]
        reader = self.logged_in(key=self.service.key("guardrails", "read"), path=f"/ui/groups/{group}")
        self.assertIn("policy false-success-issue-refund revision 1", reader.run("document.querySelector('[data-test=mark]').getAttribute('aria-label')"))
        reader.click("guardrail-open")
        reader.wait("document.querySelector('[data-test=guardrail-draft]')", "the draft")
        self.assertEqual(reader.count("guardrail-accept"), 0)

    def test_a_failure_is_reviewed_by_button_and_by_key_and_counted(self):
        key = self.service.key("reviews", "ingest,read,manage")
        for i in range(6):
            self.service.post(key, "runs", probe_run(f"r{i}"))
        page = self.logged_in(key=key, path="/ui/runs/r0")
        self.see(page, "review-right", "review-false-alarm", "review-note")
        page.run("document.querySelector('[data-test=review-note]').focus()")
        page.type("Seen y and x")
        page.click("review-right")
        page.wait("document.querySelector('[data-test=failure]').dataset.review === 'right'", "reviewed")
        self.assertIn("Seen y and x", page.text("failure"))
        for i in range(1, 6):
            page.go(f"{self.service.url}/ui/runs/r{i}")
            page.key("x" if i == 5 else "y")
            page.wait("document.querySelector('[data-test=failure]').dataset.review", f"r{i} reviewed")
        self.assertEqual(page.data("failure", "review"), ["false_alarm"])
        page.go(f"{self.service.url}/ui/detectors")
        said = page.run("(() => { const p = document.querySelector('[data-test=detector][data-key=false_success] [data-test=precision]'); return [p.dataset.value, p.dataset.low, p.dataset.high, p.textContent]; })()")
        told = next(one for one in self.service.get(key, "detectors")["items"] if one["key"] == "false_success")["reviews"]["precision"]
        self.assertEqual([float(one) for one in said[:3]], [told["value"], told["low"], told["high"]])
        self.assertAlmostEqual(told["value"], 5 / 6)
        self.assertIn("6 reviewed failures", said[3])
        reader = self.logged_in(key=self.service.key("reviews", "read"), path="/ui/runs/r5")
        self.assertIn("False alarm", reader.text("failure"))
        self.assertEqual([reader.count(name) for name in ("review-right", "review-false-alarm", "review-note")], [0, 0, 0])

    def test_without_the_scope_there_is_nothing_to_press(self):
        page = self.logged_in(path=self.group_path())
        self.assertEqual([page.count(name) for name in ("triage-resolve", "triage-ignore", "triage-reopen", "triage-note")], [0, 0, 0, 0])


class Safety(PageTest):
    def test_nothing_a_client_sent_runs(self):
        key = self.service.key("probes")
        self.service.post(key, "changes", {"kind": "code", "ref": PROBE, "summary": PROBE})
        for revision in (f"1 {PROBES[0]}", f"2 {PROBES[0]}"):
            self.service.post(key, "policies", {"policy": PROBE[:200], "revision": revision, "content": {PROBE: [PROBE, revision]}, "author": PROBE, "summary": PROBE})
        run_id = f"probe {PROBE}"[:200]
        answer = self.service.post(key, "runs", probe_run(run_id))
        self.assertTrue(answer["failures"])
        page = self.logged_in(key=key)
        group = page.data("group", "id")[0]
        paths = ["/ui/groups", f"/ui/groups/{group}", "/ui/runs", f"/ui/runs/{urllib.parse.quote(run_id, safe='')}", "/ui/changes", "/ui/baseline", f"/ui/baseline?{urllib.parse.urlencode({'dimension': 'model', 'value': PROBE})}", f"/ui/changes?policy={urllib.parse.quote(PROBE[:200], safe='')}",
                 f"/ui/groups?q={urllib.parse.quote(PROBE, safe='')}", "/ui/detectors"]
        for path in paths:
            page.go(self.service.url + path)
            self.assertIsNone(page.run("window.hit ?? null"), path)
            self.assertEqual(page.run("document.querySelectorAll('main script, main img, main iframe, main [onerror], main [onload], main [style]').length"), 0, path)
            self.assertEqual(page.run("[...document.querySelectorAll('a[href]')].filter((one) => new URL(one.href).origin !== location.origin).length"), 0, path)
            self.assertNotIn("\u202e", page.run("document.body.innerText + document.title"), path)
            self.assertEqual(page.run("[...document.querySelectorAll('main *:not(input)')].flatMap((one) => [...one.attributes]).filter(({name, value}) => value.includes('window.hit') && !/^(data-|title$|aria-label$|href$)/.test(name))"
                                      ".map(({name, ownerElement}) => `${ownerElement.localName}[${name}]`)"), [], path)
        page.go(self.service.url + paths[3])
        self.assertIn("U+202E", page.run("document.title"))
        self.assertIn("<script>window.hit = 1</script>", page.text("answer"))
        self.assertIn("U+202E", page.text("answer"))

    def test_a_text_of_a_mebibyte_is_opened_on_demand(self):
        key = self.service.key("long")
        steps = [{"stepKind": "tool", "stepName": "read", "status": "ok", "outputSummary": "x" * (1 << 20)}, {"stepKind": "tool", "stepName": "read more", "status": "ok", "outputSummary": "y" * 150_000},
                 {"stepKind": "tool", "stepName": "issue_refund", "status": "failed", "errorMessage": "502 Bad Gateway"}]
        self.service.post(key, "runs", {"runId": "long", "userRequestText": "Refund order 1", "success": True, "outcomeSummary": "Your refund has been processed.", "steps": steps})
        page = self.logged_in(key=key, path="/ui/runs/long")
        self.assertLess(page.run("document.body.textContent.length"), 60_000)
        page.click("#step-1 summary")
        page.click("#step-1 .block-head button")
        page.wait("document.querySelector('#step-1 pre').textContent.startsWith('x'.repeat(100_000))", "the first slice")
        self.assertLess(page.run("document.querySelector('#step-1 pre').textContent.length"), 101_000)
        page.click("#step-2 summary")
        for _ in range(2):
            page.click("#step-2 .block-head button")
        self.assertEqual(page.run("document.querySelector('#step-2 pre').textContent.length"), 150_000, "all of it")
        self.assertFalse(page.run("document.querySelector('#step-2 .block-head button').checkVisibility()"))
        self.assertEqual(page.run("document.activeElement === document.querySelector('#step-2 pre')"), True, "the focus stays at the text")

    def test_long_json_is_indented_as_far_as_it_is_shown(self):
        key = self.service.key("long-json")
        text = json.dumps([{"n": i} for i in range(100_000)])
        run = alarming_run("long")
        run["steps"][0]["outputSummary"] = text
        self.service.post(key, "runs", run)
        page = self.logged_in(key=key, path="/ui/runs/long")
        page.click("#step-1 summary")
        shown = "document.querySelector('#step-1 pre[aria-label=output]').textContent"
        self.assertTrue(page.run(shown).startswith('[\n  {\n    "n": 0\n  },\n'), page.run(shown)[:100])
        self.assertTrue(page.run(shown).endswith(f"of {len(text):,} characters"), page.run(shown)[-100:])
        self.assertEqual(page.run(f"import('/ui/assets/format.js').then(({{pretty}}) => pretty('[1,2,3,4,5,6]', 12))"), "[\n  1,\n  2,\n  3")

    def test_a_policy_of_any_length_is_opened_on_demand(self):
        key = self.service.key("long-policy")
        for i in (1, 2):
            self.service.post(key, "policies", {"policy": "huge", "content": {"limit": i, "text": f"{i}" * 150_000}})
        page = self.logged_in(key=key, path="/ui/changes?policy=huge")
        shown = "document.querySelector('main pre').textContent.length"
        for address, total in (("", 300_000), ("&to=1", 150_000)):
            page.go(f"{self.service.url}/ui/changes?policy=huge{address}")
            self.assertLess(page.run(shown), 5000)
            for _ in range(2):
                page.click("main section button")
            self.assertGreater(page.run(shown), total)
            self.assertEqual(page.run("document.activeElement === document.querySelector('main pre')"), True)
            self.assertFalse(page.run("document.querySelector('main section button').checkVisibility()"))
        page.go(f"{self.service.url}/ui/changes?policy=huge")
        self.assertEqual(page.run("[...document.querySelectorAll('.diff > *')].map((one) => one.localName + one.textContent.slice(0, 14))"),
                         ["span  {", 'del\u2212   "limit": 1', 'del\u2212   "text": "1', 'ins+   "limit": 2', 'ins+   "text": "2', "span  }"])

    def test_no_member_of_a_client_is_shown_at_any_length(self):
        key = self.service.key("long-members", "ingest,read,manage")
        long = {letter: letter * 60_000 for letter in "abcdefgh"}
        self.service.post(key, "runs", alarming_run("before"))
        self.service.post(key, "changes", {"kind": "code", "ref": long["a"], "summary": long["b"], "author": long["c"]})
        self.service.post(key, "policies", {"policy": "long", "content": 1, "ref": long["a"], "summary": long["b"], "author": long["c"]})
        run = alarming_run("long")
        run["steps"][0].update(stepName=long["d"], status="s" * 3000, errorCode=long["e"], note=long["f"], metadata={"m" * 3000: long["g"]})
        self.service.post(key, "runs", {**run, "note": long["h"]})
        group = self.service.get(key, "clusters?detector=false_success")["items"][0]["clusterId"]
        page = self.logged_in(key=key, path="/ui/runs/long")
        longest = ("(() => { const texts = []; const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); while (walker.nextNode()) texts.push(walker.currentNode);"
                   " return [Math.max(...texts.filter((one) => one.parentElement.checkVisibility()).map((one) => one.data.length)), Math.max(...[...document.querySelectorAll('[aria-label]')].map((one) => one.ariaLabel.length))]; })()")
        for path in ("runs/long", f"groups/{group}", "changes", "changes?policy=long", "runs"):
            page.go(f"{self.service.url}/ui/{path}")
            page.run("[...document.querySelectorAll('.step')].forEach((one) => { one.open = true; })")
            self.assertLessEqual(page.run(longest)[0], 2000, path)
            self.assertLessEqual(page.run(longest)[1], 300, path)
            self.assertLessEqual(page.run("Math.max(0, ...[...document.querySelectorAll('option')].map((one) => one.text.length))"), 130, path)
            page.screenshot(f"{self.pictures}/long-{path.partition('/')[0].partition('?')[0]}-{len(path)}.png")
        page.go(f"{self.service.url}/ui/runs/long")
        self.assertLess(page.run("Math.max(...[...document.querySelectorAll('.step > summary')].map((one) => one.textContent.length))"), 1000)
        page.run("document.querySelector('#step-1').open = true; [...document.querySelectorAll('.body button, aside button')].filter((one) => one.innerText.startsWith('Show all')).forEach((one) => one.click())")
        shown = page.run("document.querySelector('main').textContent")
        for letter in "defgh":
            self.assertIn(long[letter], shown)
        page.go(f"{self.service.url}/ui/changes")
        page.run("[...document.querySelectorAll('[data-test=change] summary')].forEach((one) => one.click())")
        self.assertIn(long["b"], page.run("document.querySelector('main').innerText"))

    def test_members_without_end_are_opened_on_demand(self):
        key = self.service.key("members")
        run = alarming_run("members")
        run["metadata"] = {f"member {i}": i for i in range(500)}
        run["steps"][0]["metadata"] = {f"member {i}": i for i in range(350)}
        self.service.post(key, "runs", run)
        page = self.logged_in(key=key, path="/ui/runs/members")
        page.click("#step-1 summary")
        for place, shown in (("#step-1", [200, 350]), ("aside", [200, 400, 500])):
            count = f"[...document.querySelectorAll('{place} dt')].filter((one) => one.textContent.startsWith('member')).length"
            for i, wanted in enumerate(shown):
                self.assertEqual(page.run(count), wanted)
                if i + 1 < len(shown):
                    page.run(f"(() => {{ const more = [...document.querySelectorAll('{place} button')].find((one) => one.checkVisibility() && one.textContent.startsWith('Show')); more.focus(); more.click(); }})()")
            self.assertEqual(page.run(f"document.activeElement.matches('{place} dl')"), True, "the focus stays at the members")

    def test_steps_are_drawn_around_the_one_that_failed(self):
        key = self.service.key("many")
        steps = [{"stepKind": "tool", "stepName": f"read_page_{i}", "status": "ok", "inputSummary": str(i), "outputSummary": str(i)} for i in range(1000)]
        steps[600] = {"stepKind": "tool", "stepName": "issue_refund", "status": "failed", "errorMessage": "502 Bad Gateway"}
        self.service.post(key, "runs", {"runId": "many", "userRequestText": "Refund order 1", "success": True, "outcomeSummary": "Your refund has been processed.", "steps": steps})
        page = self.logged_in(key=key, path="/ui/runs/many")
        self.assertEqual(page.count("step"), 200)
        self.assertIn("600", page.data("step", "index"))
        self.assertEqual(page.run("document.querySelector('[data-primary=true]').dataset.index"), "600")
        page.run("[...document.querySelectorAll('main button')].find((one) => one.innerText.includes('earlier')).click()")
        page.wait("document.querySelectorAll('[data-test=step]').length === 400", "earlier steps")
        first = "document.querySelector('[data-test=step]')"
        for _ in range(2):
            page.run("(() => { const more = [...document.querySelectorAll('main button')].find((one) => one.innerText.includes('earlier')); more.focus(); more.click(); })()")
        self.assertEqual(page.run(f"[{first}.dataset.index, document.activeElement === {first}.querySelector('summary')]"), ["0", True], "the focus stays where the button was")

    def test_a_step_in_the_address_that_there_is_not_leaves_the_one_that_failed(self):
        key = self.service.key("stale")
        steps = [{"stepKind": "tool", "stepName": f"read_page_{i}", "status": "ok", "inputSummary": str(i), "outputSummary": str(i)} for i in range(500)]
        run = alarming_run("stale")
        self.service.post(key, "runs", {**run, "steps": steps + run["steps"][1:]})
        page = self.logged_in(key=key, path="/ui/runs/stale")
        for place in ("#step-99999", "#step=gone", "#step-0", "#elsewhere"):
            page.go(f"{self.service.url}/ui/")
            page.go(f"{self.service.url}/ui/runs/stale{place}")
            box = page.run("(() => { const step = document.querySelector('[data-primary=true]'); const r = step.getBoundingClientRect(); return [step.id, step.open, r.top >= 0 && r.top < innerHeight]; })()")
            self.assertEqual(box, ["step-501", True, True], place)


class Live(PageTest):
    def test_what_comes_in_is_shown_without_a_reload(self):
        key = self.service.key("living")
        page = self.logged_in(key=key)
        self.see(page, "empty-curl")
        page.wait("performance.getEntriesByType('resource').some((one) => one.name.includes('/v1/tail'))", "the page follows")
        self.service.post(key, "runs", probe_run("first"))
        page.wait("document.querySelector('[data-test=group]')", "the group", timeout_s=6)
        self.assertIn("failure", page.run("document.querySelector('[role=status]').innerText"))

    def test_what_comes_in_right_after_a_load_is_shown(self):
        key = self.service.key("at-once")
        self.service.post(key, "runs", alarming_run("first"))
        group = self.service.get(key, "clusters")["items"][0]["clusterId"]
        step = lambda n: {"runId": "open", "events": [{"type": "tool_call", "eventId": f"e{n}", "name": f"look_{n}", "status": "ok"}]}
        self.service.post(key, "events", step(1))
        page = self.logged_in(key=key)
        for path, kind, body, shown in (("groups", "runs", alarming_run("second"), "document.querySelector('[data-test=group-count]').innerText === '2 failures'"),
                                        (f"groups/{group}", "runs", alarming_run("third"), "document.querySelector('[data-test=example]').innerText === 'third'"),
                                        ("runs", "runs", alarming_run("fourth"), "document.querySelector('[data-id=fourth]')"),
                                        ("runs/open", "events", step(2), "document.querySelectorAll('[data-test=step]').length === 2")):
            page.go(f"{self.service.url}/ui/{path}")
            self.service.post(key, kind, body)
            page.wait(shown, f"{path}: what came in", timeout_s=6)

    def test_a_refresh_leaves_what_the_reader_has_typed_and_chosen(self):
        key = self.service.key("typing", "ingest,read,manage")
        self.service.post(key, "runs", alarming_run("one"))
        change = self.service.post(key, "changes", {"kind": "code", "ref": "9f3c2d1"})["changeId"]
        group = self.service.get(key, "clusters")["items"][0]["clusterId"]
        page = self.logged_in(key=key, path=f"/ui/groups/{group}")
        said = "[document.querySelector('[data-test=triage-note]').value, document.querySelector('#f-until').value, document.querySelector('#f-fixedBy').value]"
        page.run(f"document.querySelector('#f-until').value = 'week'; document.querySelector('#f-fixedBy').value = '{change}'; document.querySelector('[data-test=triage-note]').focus()")
        page.type("The refund service is down")
        page.run("document.activeElement.setSelectionRange(4, 4)")
        self.service.post(key, "runs", alarming_run("two"))
        page.wait("document.querySelectorAll('[data-test=example]').length === 2", "the second run", timeout_s=6)
        self.assertEqual(page.run(said), ["The refund service is down", "week", change])
        self.assertEqual(page.run("[document.activeElement.dataset.test, document.activeElement.selectionStart]"), ["triage-note", 4])
        page.click("triage-resolve")
        page.wait("document.querySelector('[data-test=group-page]').dataset.state === 'resolved'", "resolved")
        self.assertIn("fixed by code 9f3c2d1", page.text("history-item"))
        self.assertEqual(page.run(said), ["", "", ""], "sent")
        self.assertIn("The refund service is down", page.text("history-item"))

    def test_a_refresh_leaves_the_chosen_row_of_a_filtered_list(self):
        key = self.service.key("chosen")
        self.service.post(key, "runs", alarming_run("one"))
        page = self.logged_in(key=key, path="/ui/groups?detector=false_success")
        page.key("j")
        self.service.post(key, "runs", alarming_run("two"))
        page.wait("document.querySelector('[data-test=group-count]').innerText === '2 failures'", "the second failure", timeout_s=6)
        self.assertEqual(page.run("[...document.querySelectorAll('[data-test=group]')].map((one) => one.ariaCurrent)"), ["true"])

    def test_a_refresh_leaves_what_the_reader_has_opened_and_walked_to(self):
        key = self.service.key("opened", "ingest,read,manage")
        run = alarming_run("opened")
        look_up = {"stepKind": "tool", "stepName": "look_up", "status": "failed", "inputSummary": "order 8842", "errorMessage": "502 Bad Gateway"}
        run["steps"] = [look_up] * 8 + [{**look_up, "stepName": "read", "status": "ok", "errorMessage": None, "outputSummary": "line of a long text\n" * 3000}]
        self.service.post(key, "runs", run)
        page = self.logged_in(key=key, path="/ui/runs/opened")
        page.run("(() => { document.querySelector('#step-9').open = true; [...document.querySelectorAll('#step-9 button')].find((one) => one.checkVisibility()).click(); document.querySelector('#step-9 pre[aria-label=output]').scrollTop = 3000; })()")
        for _ in range(40):
            page.key("n")
            if page.run("Boolean(document.querySelector('[data-test=fold] mark.current'))"):
                break
        page.key("n")
        at = ("(() => { const current = document.querySelector('mark.current'); return [[...document.querySelectorAll('mark')].indexOf(current), current?.dataset.pointer, current === document.activeElement,"
              " Boolean(current?.closest('[data-test=fold]')), document.querySelector('#step-9 pre[aria-label=output]').scrollTop, document.querySelector('#step-9 pre[aria-label=output]').textContent.length]; })()")
        before = page.run(at)
        self.assertGreater(before[0], 0)
        self.assertEqual(before[2:], [True, True, 3000, 60_000])
        page.run("document.querySelector('[data-test=run-page]').dataset.before = ''")
        self.service.post(key, "changes", {"kind": "code", "ref": "9f3c2d1"})
        page.wait("!document.querySelector('[data-before]') && document.documentElement.dataset.ready === 'true'", "a refresh", timeout_s=6)
        self.assertEqual(page.run(at), before)
        page.key("n")
        self.assertEqual(page.run(at)[0], before[0] + 1)

    def test_what_comes_in_waits_for_what_the_reader_is_at(self):
        key = self.service.key("at-work")
        self.service.post(key, "runs", alarming_run("first"))
        page = self.logged_in(key=key, path="/ui/runs")
        mouse = lambda kind: page.send("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
        occupied = {"selects": ("document.querySelector('[data-test=filter-state]').showPicker()", "document.querySelector('[data-test=filter-state]').hidden = true"),
                    "a text": ("getSelection().selectAllChildren(document.querySelector('[data-row=first] p'))", "getSelection().removeAllRanges()")}
        for i, (what, (begin, end)) in enumerate(occupied.items()):
            page.run(begin)
            self.service.post(key, "runs", alarming_run(f"new {i}"))
            page.wait("document.querySelector('[data-test=live]').innerText === 'Live: on hold'", what, timeout_s=6)
            self.assertEqual(page.run(f"document.querySelector('[data-row=\"new {i}\"]')"), None, what)
            page.run(end)
            page.wait(f"document.querySelector('[data-row=\"new {i}\"]') && document.querySelector('[data-test=live]').innerText === 'Live on'", f"{what}: what came in", timeout_s=6)
        place = page.run("(() => { const r = document.querySelector('[data-row=first] a').getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        mouse("mousePressed")
        self.service.post(key, "runs", alarming_run("last"))
        page.wait("document.querySelector('[data-test=live]').innerText === 'Live: on hold'", "half a click", timeout_s=6)
        mouse("mouseReleased")
        page.ready("run")
        self.assertEqual(page.run("location.pathname"), "/ui/runs/first")

    def test_a_list_of_runs_stays_where_only_a_change_comes_in(self):
        key = self.service.key("only-a-change")
        self.service.post(key, "runs", alarming_run("first"))
        page = self.logged_in(key=key, path="/ui/runs")
        page.run("document.querySelector('[data-row=first]').dataset.before = ''")
        self.service.post(key, "changes", {"kind": "code", "ref": "9f3c2d1"})
        asked = len(page.requests)
        page.wait("performance.getEntriesByType('resource').filter((one) => one.name.includes('/v1/tail?after=')).length > 2", "it has followed", timeout_s=8)
        self.assertEqual([url for _, url in list(page.requests)[asked:] if "/v1/runs" in url], [])
        self.assertEqual(page.run("document.querySelectorAll('[data-before]').length"), 1)

    def test_changes_and_revisions_that_come_in_are_shown(self):
        key = self.service.key("changing")
        self.service.post(key, "policies", {"policy": "refunds", "content": 1})
        page = self.logged_in(key=key, path="/ui/changes")
        self.service.post(key, "changes", {"kind": "code", "ref": "9f3c2d1"})
        page.wait("document.querySelector('[data-test=change][data-kind=code]')", "the change", timeout_s=6)
        page.go(f"{self.service.url}/ui/changes?policy=refunds")
        self.service.post(key, "policies", {"policy": "refunds", "content": 2})
        page.wait("document.querySelectorAll('[data-test=policy-revision]').length === 2", "the revision", timeout_s=6)
        page.run("document.querySelector('main h1').dataset.before = ''")
        asked = "performance.getEntriesByType('resource').filter((one) => one.name.includes('/v1/policies/refunds')).length"
        before = page.run(asked)
        self.service.post(key, "changes", {"kind": "code", "ref": "1b2c3d4"})
        page.wait(f"{asked} > {before} && document.documentElement.dataset.ready === 'true'", "the revisions are looked at")
        self.assertEqual(page.run("document.querySelectorAll('[data-before]').length"), 1, "what did not change is not drawn anew")
        self.service.post(key, "policies", {"policy": "refunds", "content": 3})
        page.wait("document.querySelectorAll('[data-test=policy-revision]').length === 3", "the next revision", timeout_s=6)

    def test_what_comes_in_above_moves_nothing_under_the_reader(self):
        key = self.service.key("above")
        self.service.post_runs(key, [{"runId": f"run {i}"} for i in range(40)])
        page = self.logged_in(key=key, path="/ui/runs")
        page.run("window.scrollTo(0, 1500)")
        seen = "[...document.querySelectorAll('[data-row]')].map((one) => [one.dataset.row, Math.round(one.getBoundingClientRect().top)]).filter(([, top]) => top >= 0 && top < innerHeight)"
        before = page.run(seen)
        self.assertGreater(len(before), 3)
        self.service.post_runs(key, [{"runId": f"new {i}"} for i in range(5)])
        page.wait("document.querySelector('[data-row=\"new 0\"]')", "the new runs", timeout_s=6)
        after = page.run(seen)
        self.assertEqual([name for name, _ in after], [name for name, _ in before])
        self.assertLessEqual(abs(after[0][1] - before[0][1]), 2)

    def test_what_another_person_decides_is_shown(self):
        key = self.service.key("colleagues", "ingest,read,manage")
        failure = self.service.post(key, "runs", alarming_run("one"))["failures"][0]["failureId"]
        group = self.service.get(key, "clusters")["items"][0]["clusterId"]
        pages = [self.logged_in(key=key, path=path, width=900) for path in ("/ui/groups", f"/ui/groups/{group}", "/ui/runs/one")]

        def decide(path, body):
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            urllib.request.urlopen(urllib.request.Request(f"{self.service.url}/v1/{path}", json.dumps(body).encode(), headers), timeout=30).close()

        decide(f"failures/{failure}/review", {"verdict": "right"})
        pages[2].send("Page.bringToFront")
        pages[2].wait("document.querySelector('[data-test=failure]').dataset.review === 'right'", "the review", timeout_s=6)
        decide(f"clusters/{group}/triage", {"action": "resolve"})
        for page, shown in zip(pages, ("document.querySelectorAll('[data-test=group]').length === 0", "document.querySelector('[data-test=group-page]')?.dataset.state === 'resolved'")):
            page.send("Page.bringToFront")
            page.wait(shown, "the decision", timeout_s=6)

    def test_a_search_goes_on_over_a_refresh(self):
        page = self.logged_in()
        page.run("(() => { const search = document.querySelector('[data-test=search]'); search.focus(); search.value = 'refund'; search.dispatchEvent(new Event('input'));"
                 "const state = document.querySelector('[data-test=filter-state]'); state.value = 'all'; state.dispatchEvent(new Event('change')); })()")
        page.wait("new URLSearchParams(location.search).get('q') === 'refund' && document.documentElement.dataset.ready === 'true'", "the search")
        self.assertEqual(page.run("[document.activeElement.dataset.test, document.activeElement.value]"), ["search", "refund"])

    def test_an_open_run_grows(self):
        key = self.service.key("growing")
        event = lambda n: {"runId": "open", "events": [{"type": "tool_call", "eventId": f"e{n}", "name": f"look_{n}", "status": "ok"}]}
        self.service.post(key, "events", event(1))
        page = self.logged_in(key=key, path="/ui/runs/open")
        self.assertEqual(page.data("run-page", "state"), ["open"])
        self.assertEqual(page.count("step"), 1)
        self.assertEqual(page.run("document.querySelectorAll('a[href*=\"/bundle\"]').length"), 0, "a bundle is of a run that has ended")
        self.assertIn("Policies in force\nKnown when the run ends.", page.run("document.querySelector('aside').innerText.replace(/\\n+/g, '\\n')"))
        page.wait("performance.getEntriesByType('resource').filter((one) => one.name.includes('/v1/tail')).length > 1", "the page follows")
        self.service.post(key, "events", event(2))
        page.wait("document.querySelectorAll('[data-test=step]').length === 2", "the second step", timeout_s=6)

    def test_a_long_open_run_is_shown_at_its_end(self):
        key = self.service.key("growing-long")
        events = lambda first, last: {"runId": "long", "events": [{"type": "tool_call", "eventId": f"e{n}", "name": f"look_{n}", "status": "ok"} for n in range(first, last)]}
        self.service.post(key, "events", events(0, 250))
        page = self.logged_in(key=key, path="/ui/runs/long")
        sees = lambda index: f"(() => {{ const top = document.querySelector('[data-test=step][data-index=\"{index}\"]')?.getBoundingClientRect().top; return top >= 0 && top < innerHeight; }})()"
        self.assertEqual((page.count("step"), page.run(sees(249))), (200, True))
        self.service.post(key, "events", events(250, 255))
        page.wait(sees(254), "the new end", timeout_s=6)
        page.run("window.scrollTo(0, 0)")
        self.service.post(key, "events", events(255, 260))
        page.wait("document.querySelector('[data-index=\"259\"]')", "the new steps", timeout_s=6)
        self.assertEqual(page.run("window.scrollY"), 0, "who looks elsewhere is left there")


# Texts whose colors, as they are computed, are too near to each other.
LOW_CONTRAST = """(() => {
  const parse = (c) => (c.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c; } return [255, 255, 255]; };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const bad = [];
  const ratioOf = (color, e) => {
    const [a, b] = [light(parse(color)), light(ground(e))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  for (const e of document.querySelectorAll('[placeholder]')) {
    const ratio = ratioOf(getComputedStyle(e, '::placeholder').color, e);
    if (ratio < 4.5) bad.push(`${ratio.toFixed(2)} placeholder ${e.placeholder}`);
  }
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !e.checkVisibility({visibilityProperty: true}) || e.closest('.unseen, .skip, option, :disabled')) continue;
    const style = getComputedStyle(e);
    const ratio = ratioOf(e.closest('svg') ? style.fill : style.color, e);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5)) bad.push(`${ratio.toFixed(2)} ${e.tagName} ${e.getAttribute('class')} ${walker.currentNode.data.trim().slice(0, 30)}`);
  }
  return [...new Set(bad)];
})()"""


FAINT_MARKS = """(() => {
  const style = getComputedStyle(document.documentElement);
  const light = (name) => {
    const digits = style.getPropertyValue(name).trim().slice(1);
    const parts = digits.length === 3 ? [...digits].map((one) => one + one) : digits.match(/../g);
    return parts.map((one) => (one = parseInt(one, 16) / 255) <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4).reduce((sum, one, i) => sum + one * [0.2126, 0.7152, 0.0722][i], 0);
  };
  const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  return ['--bar', '--runs', '--link', '--suspect', '--edge', '--focus', '--accent', '--good'].filter((mark) => !(ratio(mark, '--card') >= 3));
})()"""


class Accessibility(PageTest):
    def test_every_control_has_a_name_and_a_place(self):
        page = self.logged_in()
        for view in VIEWS:
            page.go(self.service.url + self.path_of(view))
            nodes = page.send("Accessibility.getFullAXTree")["nodes"]
            roles = [node["role"]["value"] for node in nodes if not node["ignored"]]
            for role in ("main", "navigation", "banner"):
                self.assertIn(role, roles, view)
            for node in nodes:
                role = node.get("role", {}).get("value")
                if not node["ignored"] and role in ("button", "link", "textbox", "searchbox", "combobox", "checkbox", "image", "table", "dialog"):
                    self.assertTrue(node.get("name", {}).get("value"), f"{view}: a {role} without a name: {node}")
            self.assertTrue(page.run("document.title.endsWith(' \u00b7 runwarden') && document.documentElement.lang === 'en'"))
            self.assertEqual(page.run("[...document.querySelectorAll('table')].filter((one) => !one.querySelector('th[scope]')).length"), 0, view)
            self.assertEqual(page.run("[...document.querySelectorAll('pre[aria-label]:not([role])')].map((one) => one.ariaLabel)"), [], f"{view}: a name without a role")
            self.assertEqual(page.run("[...document.querySelectorAll('[id]')].map((one) => one.id).filter((id, i, all) => all.indexOf(id) !== i)"), [], view)

    def test_names_of_nothing_but_spaces_can_be_read(self):
        key = self.service.key("spaces")
        self.service.post(key, "policies", {"policy": "  ", "content": 1})
        self.service.post(key, "runs", {**alarming_run("   "), "metadata": {"version": "1"}})
        page = self.logged_in(key=key)
        group = page.data("group", "id")[0]
        for path in ("runs", "runs/%20%20%20", f"groups/{group}", "changes"):
            page.go(f"{self.service.url}/ui/{path}")
            nodes = page.send("Accessibility.getFullAXTree")["nodes"]
            nameless = [node for node in nodes if not node["ignored"] and node["role"]["value"] == "link" and not node["name"]["value"].strip()]
            self.assertEqual(nameless, [], path)

    def test_what_scrolls_has_a_name_and_a_place(self):
        key = self.service.key("scrolling")
        run = alarming_run("scrolling")
        run["steps"][1]["inputSummary"] = {f"member {i}": i for i in range(60)}
        run.update(userRequestText="Refund\n" * 60, outcomeSummary="Your refund has been processed.\n" * 60)
        self.service.post(key, "runs", run)
        self.service.post(key, "policies", {"policy": "long", "content": {f"member {i}": i for i in range(60)}})
        page = self.logged_in(key=key, width=320)
        for path, most in (("runs/scrolling", 3), ("changes?policy=long", 1)):
            page.go(f"{self.service.url}/ui/{path}")
            boxes = page.run("[...document.querySelectorAll('main pre')].filter((one) => one.scrollHeight > one.clientHeight).map((one) => [one.tabIndex, one.role, Boolean(one.ariaLabel)])")
            self.assertEqual(boxes, [[0, "group", True]] * most, path)

    def test_the_reader_chooses_the_size_of_text_and_the_colors(self):
        page = self.logged_in(path=self.group_path(), width=640)
        sizes = "['body', 'h1', 'button', 'code'].map((name) => parseFloat(getComputedStyle(document.querySelector(name)).fontSize))"
        before = page.run(sizes)
        page.run("document.documentElement.style.fontSize = '200%'")
        self.assertEqual(page.run(sizes), [2 * size for size in before])
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 640)
        page.send("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
        fills = page.run("['.bar', '.mark.suspect circle'].map((name) => getComputedStyle(document.querySelector(`svg ${name}`)).fill)")
        signs = page.run("['.sign.bar', '.sign.suspect'].map((name) => getComputedStyle(document.querySelector(name)).backgroundColor)")
        self.assertEqual(fills, signs)
        page.run("document.body.style.color = 'Highlight'")
        self.assertEqual(page.run("getComputedStyle(document.body).color"), fills[1], "a color of the reader's")
        grounds = page.run("['.sign.bar', '.sign.suspect', 'body'].map((name) => getComputedStyle(document.querySelector(name)).backgroundColor)")
        self.assertEqual(len(set(grounds)), 3, "the signs keep the colors of what they explain")
        page.go(self.service.url + "/ui/groups")
        page.key("j")
        borders = page.run("[...document.querySelectorAll('[data-test=group]')].slice(0, 2).map((one) => getComputedStyle(one).borderLeftColor)")
        self.assertNotEqual(*borders)

    def test_all_of_a_text_is_printed(self):
        key = self.service.key("printed", "ingest,read,manage")
        self.service.post(key, "runs", {**alarming_run("printed"), "userRequestText": "Refund\n" * 200})
        page = self.logged_in(key=key, path="/ui/runs/printed")
        page.send("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(page.run("(() => { const pre = document.querySelector('#request pre'); return pre.scrollHeight <= pre.clientHeight; })()"), True)
        self.assertGreater(page.run("document.querySelectorAll('form').length"), 0)
        self.assertEqual(page.run("['header', 'form', 'button', '.button'].filter((one) => document.querySelector(one).checkVisibility())"), [])

    def test_joiners_that_are_part_of_the_spelling_are_left_in_it(self):
        page = self.logged_in()
        family, persian, persian_number = "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u200c1"
        shown = page.run(f"import('/ui/assets/dom.js').then(({{visible}}) => {json.dumps([family, persian, persian_number, 'pay' + chr(0x200d) + 'pal', chr(0x200d), 'x' + chr(0x202e)])}.map(visible))")
        self.assertEqual(shown[:2], [family, persian])
        self.assertEqual(shown[2:], ["\u0645\u27e8U+200C\u27e91", "pay\u27e8U+200D\u27e9pal", "\u27e8U+200D\u27e9", "x\u27e8U+202E\u27e9"])

    def test_the_head_breaks_no_words_on_a_narrow_screen(self):
        key = self.service.key("acme-production", "ingest,read,manage")
        for width in (320, 390, 480):
            page = self.logged_in(key=key, width=width)
            self.assertLessEqual(page.run("document.documentElement.scrollWidth"), width)
            self.assertEqual(page.run("['tenant', 'logout', 'live'].map((name) => { const range = document.createRange(); range.selectNodeContents(document.querySelector(`[data-test=${name}]`)); return new Set([...range.getClientRects()].map((one) => one.top)).size; })"),
                             [1, 1, 1], f"each in one line at {width}")
            page.screenshot(f"{self.pictures}/head-{width}.png")

    def test_the_note_of_a_decision_has_room(self):
        key = self.service.key("roomy", "ingest,read,manage")
        self.service.post(key, "runs", alarming_run("one"))
        page = self.logged_in(key=key, path=f"/ui/groups/{self.service.get(key, 'clusters')['items'][0]['clusterId']}")
        self.assertGreater(page.run("document.querySelector('[data-test=triage-note]').getBoundingClientRect().width"), 800)

    def test_the_latest_revisions_of_many_can_be_touched(self):
        key = self.service.key("many-revisions")
        for i in range(13):
            self.service.post(key, "events", {"runId": "often", "events": [{"type": "tool_call", "name": f"look_{i}", "status": "ok", "eventId": f"c{i}"}, {"type": "run_finished", "success": True, "eventId": f"e{i}"}]})
        page = self.logged_in(key=key, path="/ui/runs/often?revision=2", width=360)
        boxes = page.run("[...document.querySelectorAll('aside a[href*=\"revision=\"]:not([data-test=raw]):not([href*=bundle])')].map((one) => [one.innerText, one.getBoundingClientRect().width >= 24 && one.getBoundingClientRect().height >= 24])")
        self.assertEqual(boxes, [[str(i), True] for i in range(4, 14)])
        self.assertEqual(page.run("document.querySelector('.revisions strong').innerText"), "2")

    def test_text_and_marks_stand_out(self):
        """Contrast of the colors as they are computed on every view: 4.5 for text (3 where it is large), 3 for marks, by WCAG 2.2, 1.4.3 and 1.4.11."""
        for scheme in ("light", "dark"):
            page = self.logged_in(scheme=scheme)
            for view in [*VIEWS, "login"]:
                page.go(self.service.url + self.path_of(view))
                self.assertEqual(page.run(LOW_CONTRAST), [], f"{view}, {scheme}")
            self.assertEqual(page.run(FAINT_MARKS), [], scheme)


OPINION_PATHS = ["/ui/candidates", "/ui/runs/confirmed", "/ui/runs/denied", "/ui/runs/alarm", "/ui/candidates?state=dead"]


class OpinionTest(PageTest):
    """On a service of its own, with a model that has read what it was asked about."""

    @classmethod
    def setUpClass(cls):
        cls.model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
        cls.addClassCleanup(cls.model.server_close)
        cls.addClassCleanup(cls.model.shutdown)
        threading.Thread(target=cls.model.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{cls.model.server_address[1]}/v1/chat/completions"
        kind = type("Here", (Service,), {"more": f"second_opinion: {{enabled: true, url: \"{url}\", model: judge-1, ask: all}}\n", "fill": lambda *_: None})
        cls.service = kind(PageTest.service.runwarden, PageTest.service.plugins, "")
        cls.addClassCleanup(cls.service.close)
        cls.keys = {"samples": cls.service.key("samples", "ingest,read,manage")}
        for run_id in ("confirmed", "denied", "unclear", "probe", "failing"):
            cls.service.post(cls.keys["samples"], "runs", doubtful_run(run_id))
        cls.service.post(cls.keys["samples"], "runs", alarming_run("alarm"))
        cls.wait_until(lambda: {item["runId"] for item in cls.candidates() if "review" in item or "lastError" in item} == {*SAYS, "failing"} - {"alarm"})
        cls.wait_until(lambda: "review" in cls.service.get(cls.keys["samples"], "runs/alarm")["failures"][0])

    @classmethod
    def candidates(cls):
        return cls.service.get(cls.keys["samples"], "candidates")["items"]

    @staticmethod
    def wait_until(is_so):
        for _ in range(1000):
            if is_so():
                return
            time.sleep(0.02)
        raise Fault("the model's answers are not stored")

    def attributes(self, page):
        return [tuple(one) for one in page.run("[...document.querySelectorAll('[data-test=opinion]')].map((one) => [one.dataset.author, one.dataset.verdict, one.dataset.opinion])")]


class Opinions(OpinionTest):
    def test_what_a_model_confirmed_stands_beside_the_doubt_of_the_detector(self):
        page = self.logged_in(path="/ui/runs/confirmed")
        self.assertEqual(page.count("failure"), 1)
        self.assertEqual(self.attributes(page), [("model:judge-1", "right", "present")])
        self.assertIn("model:judge-1", page.text("confirmed-by"))
        self.assertIn("The detector was not sure", page.text("failure"))
        candidate = next(item for item in self.candidates() if item["runId"] == "confirmed")
        self.assertIn(candidate["rule"], page.text("failure"))
        self.assertIn(candidate["reason"], page.text("failure"))
        said = page.text("opinion")
        for text in ("found the failure", "The mail never left.", "/steps/1/errorMessage", "502 Bad Gateway", candidate["review"]["promptVersion"], "750 tokens", "just now"):
            self.assertIn(text, said)
        page.run("document.querySelector('#step-2').open = false; document.querySelector('[data-test=opinion] a').click()")
        page.wait("location.hash === '#step-2' && document.querySelector('#step-2')?.open", "the place of the quote")

    def test_an_alarm_that_a_model_denied_shows_both_and_what_a_person_says_since(self):
        page = self.logged_in(path="/ui/runs/alarm")
        self.assertEqual(self.attributes(page), [("model:judge-1", "unsure", "absent")])
        self.assertEqual(page.count("confirmed-by"), 0)
        summary = self.service.get(self.keys["samples"], "runs/alarm")["failures"][0]["summary"]
        for text in (summary, "The detector found the failure", "found no such failure", "The refund came later."):
            self.assertIn(text, page.text("failure"))
        self.assertEqual(page.run("document.querySelectorAll('[data-test=failure] [aria-pressed=true]').length"), 0)
        page.key("y")
        page.wait("document.querySelector('[data-test=failure]').dataset.review === 'right'", "reviewed")
        self.assertIn("by tests", page.text("failure"))
        self.assertEqual(self.attributes(page), [("model:judge-1", "unsure", "absent")], "both opinions stay")

    def test_what_was_let_pass_bears_the_opinion_beside_the_detector(self):
        page = self.logged_in(path="/ui/runs/denied")
        self.assertEqual(page.count("failure"), 0)
        self.assertEqual(self.attributes(page), [("model:judge-1", "clean", "absent")])
        self.assertEqual(page.run("document.querySelector('[data-test=opinion]').closest('[data-test=verdict]').dataset.detector"), "false_success")
        self.assertIn("Nothing was promised.", page.text("opinion"))
        self.assertRegex(page.text("suppressed"), r"with confidence 0\.\d+")

    def test_candidates_are_listed_filtered_and_lead_to_their_step(self):
        page = self.logged_in(path="/ui/candidates")
        self.see(page, "candidates-page", "candidate", "filter-state", "filter-detector", "nav-candidates")
        wanted = self.candidates()
        self.assertEqual(page.data("candidate", "id"), [item["candidateId"] for item in wanted])
        self.assertEqual(page.data("candidate", "state"), [item["state"] for item in wanted])
        self.assertEqual(page.data("candidate", "detector"), [item["detectorKey"] for item in wanted])
        texts = page.run("Object.fromEntries([...document.querySelectorAll('[data-test=candidate]')].map((one) => [one.querySelector('a').href.match(/runs\\/(\\w+)/)[1], one.innerText]))")
        for item in wanted:
            for text in ("False success", item["rule"], f"confidence {item['confidence']}", item.get("lastError", ""), item.get("review", {"reason": ""})["reason"].split("\u202e")[0]):
                self.assertIn(text, texts[item["runId"]])
        self.assertEqual({item["runId"]: item["state"] for item in wanted}, {"confirmed": "confirmed", "denied": "denied", "unclear": "unclear", "probe": "confirmed", "failing": "waiting"})
        page.choose("filter-state", "denied")
        page.wait("location.search === '?state=denied' && document.documentElement.dataset.ready === 'true'")
        self.assertEqual(page.data("candidate", "state"), ["denied"])
        page.choose("filter-detector", "schema_ghost")
        page.wait("document.querySelector('[data-test=empty]')", "an empty list")
        page.click("[data-test=empty] button")
        page.wait("location.search === '' && document.querySelectorAll('[data-test=candidate]').length === 5", "the filter cleared")
        at = [item["runId"] for item in wanted].index("unclear")
        for _ in range(at + 1):
            page.key("j")
        page.key("Enter")
        page.ready("run")
        self.assertEqual(page.run("location.pathname + location.hash"), "/ui/runs/unclear#step=mail%202")
        self.assertEqual(page.run("[...document.querySelectorAll('[data-test=step]')].map((one) => one.open)"), [False, True])

    def test_nothing_that_a_model_said_runs(self):
        handler = type("Here", (NeverStored,), {"target": self.service.port})
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
            threading.Thread(target=proxy.serve_forever, daemon=True).start()
            page = self.logged_in(path="/ui/runs/probe")
            self.assertIn("<script>window.hit = 1</script>", page.text("opinion"))
            proxied = f"http://127.0.0.1:{proxy.server_address[1]}"
            for url in (f"{self.service.url}/ui/runs/probe", f"{self.service.url}/ui/candidates", f"{proxied}/ui/candidates"):
                page.go(url)
                self.assertIsNone(page.run("window.hit ?? null"), url)
                self.assertEqual(page.run("document.querySelectorAll('main script, main img, main iframe, main [onerror], main [onload], main [style]').length"), 0, url)
                self.assertEqual(page.run("[...document.querySelectorAll('a[href]')].filter((one) => new URL(one.href).origin !== location.origin).length"), 0, url)
                self.assertNotIn("\u202e", page.run("document.body.innerText"), url)
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 1280, url)
            self.assertEqual(set(page.data("candidate", "state")), {"dead"})
            self.assertIn("5 attempts", page.text("candidate"))
            self.assertIn("U+202E", page.text("candidate"))
            proxy.shutdown()

    def test_they_can_be_read_in_light_dark_and_narrow(self):
        for name, size, scheme in (("light", 1280, "light"), ("dark", 1280, "dark"), ("narrow", 320, "light")):
            page = self.logged_in(width=size, scheme=scheme)
            for path in OPINION_PATHS:
                page.go(self.service.url + path)
                page.screenshot(f"{self.pictures}/{name}-opinion-{path.rpartition('/')[2].replace('?', '-')}.png", whole=True)
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), size, f"{path}: no sideways scrolling")
                self.assertEqual(page.run(LOW_CONTRAST), [], f"{path}, {scheme}")
                self.assertEqual(page.run("[...document.querySelectorAll('[id]')].map((one) => one.id).filter((id, i, all) => all.indexOf(id) !== i)"), [], path)


class AxeTest(PageTest):
    """axe-core 4 from npm, fetched into a temporary folder; with the slow tests."""

    def hold(self, paths, key=None):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder, True)
        if not shutil.which("npm"):
            self.skipTest("there is no npm")
        subprocess.run(["npm", "install", "--silent", "--prefix", folder, "axe-core@4"], check=True)
        axe = pathlib.Path(folder, "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
        for scheme in ("light", "dark"):
            page = self.logged_in(key=key, scheme=scheme)
            for path in paths:
                page.go(self.service.url + path)
                page.run(axe + "; 1")
                found = page.run("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']}).then((r) => r.violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.target + ' ' + n.failureSummary)))")
                self.assertEqual(found, [], f"{path}, {scheme}")


class Axe(AxeTest):
    def test_no_violation_in_either_theme(self):
        self.hold([self.path_of(view) for view in [*VIEWS, "login"]])

    def test_no_violation_in_what_is_empty_open_and_compared(self):
        key = self.service.key("axe")
        self.service.post(key, "runs", blank_run("blank"))
        reopened(self.service, key, "again")
        for revision in ("1", "2"):
            self.service.post(key, "policies", {"policy": "refunds", "content": {"revision": revision}})
        self.hold(["/ui/runs/blank", "/ui/runs/again", "/ui/runs", "/ui/changes?policy=refunds"], key)


class AxeOpinions(OpinionTest, AxeTest):
    def test_no_violation_in_what_a_model_said(self):
        self.hold(OPINION_PATHS)


class TellingResult(unittest.TextTestResult):
    """Says what failed where it failed, and not only at the end, which logs may cut off."""

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.stream.writeln(self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.stream.writeln(self.errors[-1][1])


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    runwarden, plugins, samples, PageTest.pictures, *names = sys.argv[1:]
    if find_chromium() is None:
        print("page_test: there is no chromium; packaging/install-deps tests/page/deps.txt installs it")
        return 77
    os.makedirs(PageTest.pictures, exist_ok=True)
    service = Service(runwarden, plugins, samples)
    try:
        PageTest.service = service
        PageTest.keys = {tenant: service.key(tenant) for tenant in ("samples", "empty")}
        with Browser() as browser:
            PageTest.browser = browser
            suite = unittest.defaultTestLoader.loadTestsFromNames(names, sys.modules[__name__])
            passed = unittest.TextTestRunner(verbosity=2, resultclass=TellingResult).run(suite).wasSuccessful()
    finally:
        service.close()
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
