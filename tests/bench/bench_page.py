#!/usr/bin/env python3
"""usage: bench_page.py RUNWARDEN PLUGINS BENCH_GROUPS [FAILURES [GROUPS]] - how fast the page and its requests are on a large store.

Fills a store (1,000,000 failures in 10,000 groups, 100 changes), serves it on the same machine, asks each request and draws each view ten times, and
prints the 75th percentile in milliseconds. A view is measured by the page itself, from the navigation to data-ready.
"""
import http.client
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "page"))
from browser import Browser
from page_test import Service

ROUNDS = 10
GOAL_MS = 100


def p75(values):
    return statistics.quantiles(values, n=4)[2]


class Filled(Service):
    """A service on the folder that bench_groups made."""
    map_size = "64GiB"

    def __init__(self, runwarden, plugins, bench, size):
        self.size = size
        self.bench = bench
        super().__init__(runwarden, plugins, None)

    def fill(self, samples):
        subprocess.run([self.bench, "fill", self.folder + "/data", *self.size], check=True)


def requests_of(service, key):
    group = service.get(key, "clusters?window=7d&limit=1")["items"][0]["clusterId"]
    large = service.get(key, "clusters?window=30d&limit=1&sort=count")["items"][0]["clusterId"]
    run = service.get(key, "runs?limit=1&view=head&minScore=1")["items"][0]["runId"]
    return group, large, run, [f"clusters?window={window}&sort={sort}" for window in ("24h", "7d", "30d") for sort in ("recent", "count")] + [
        "clusters?window=7d&q=tool_77", f"clusters/{large}?window=7d", f"clusters/{large}/differences?window=7d", f"timeline?cluster={large}&{span(7)}", f"timeline?{span(30)}",
        "dimensions", "baseline?dimension=version&value=2.4.9&window=7d", "baseline?dimension=model&value=large-2&against=small-1&window=30d", "tail", "runs?view=head",
        f"runs?view=head&cluster={large}", f"runs/{run}", "changes"]


def span(days):
    at = lambda back_s: time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - back_s))
    return f"from={at(days * 86400)}&until={at(0)}"


def measure_requests(service, key, paths):
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    took = {path: [] for path in paths}
    for _ in range(ROUNDS):
        for path in paths:
            began = time.perf_counter()
            connection.request("GET", "/v1/" + path, headers={"Authorization": f"Bearer {key}"})
            answer = connection.getresponse()
            body = answer.read()
            took[path].append((time.perf_counter() - began) * 1000)
            if answer.status != 200:
                sys.exit(f"{path}: {answer.status} {body[:300]}")
    return took


def measure_views(service, key, group, large, run):
    views = {"groups": "/ui/groups", "groups 30d by count": "/ui/groups?window=30d&sort=count", "group": f"/ui/groups/{group}?window=7d", "largest group": f"/ui/groups/{large}?window=30d",
             "runs": "/ui/runs", "run": f"/ui/runs/{run}", "changes": "/ui/changes", "baseline": "/ui/baseline?dimension=version&value=2.4.9&window=7d", "detectors": "/ui/detectors"}
    took = {name: [] for name in views}
    with Browser() as browser:
        page = browser.page()
        page.adopt(service.url, service.session(key))
        page.go(service.url + "/ui/detectors")
        first = page.run("performance.getEntriesByName('view')[0].startTime + performance.getEntriesByName('view')[0].duration")
        for _ in range(ROUNDS):
            for name, path in views.items():
                page.run("performance.clearMeasures('view')")
                page.run(f"(() => {{ const a = document.createElement('a'); a.href = '{path}'; document.body.append(a); a.click(); a.remove(); }})()")
                page.wait("performance.getEntriesByName('view').length > 0", name)
                took[name].append(page.run("performance.getEntriesByName('view')[0].duration"))
                if page.count("error"):
                    sys.exit(f"{name}: {page.text('error')}")
    return took, first


def table(title, took):
    print(f"\n{title:70} {'p75 ms':>8} {'worst':>8}")
    for name, values in took.items():
        late = "  above the goal" if p75(values) > GOAL_MS else ""
        print(f"{name:70.70} {p75(values):8.1f} {max(values):8.1f}{late}")


def main():
    if not 4 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    runwarden, plugins, bench = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:4])
    tempfile.tempdir = os.getcwd()
    service = Filled(runwarden, plugins, bench, sys.argv[4:])
    try:
        key = service.key("bench", "read")
        group, large, run, paths = requests_of(service, key)
        print(f"load of the machine {os.getloadavg()[0]:.1f}")
        table("request", measure_requests(service, key, paths))
        views, first = measure_views(service, key, group, large, run)
        table("view", views)
        print(f"\nfirst load, from navigation to drawn: {first:.0f} ms")
    finally:
        service.close()


if __name__ == "__main__":
    main()
