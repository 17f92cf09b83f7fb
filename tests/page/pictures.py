#!/usr/bin/env python3
"""usage: pictures.py RUNWARDEN PLUGINS FOLDER - the pictures of README.md and of the operator's guide, from packaging/samples.

  ./tests/page/pictures.py build/dev/bin/runwarden build/dev/plugins packaging/doc/pictures
"""
import pathlib
import sys

from browser import Browser
from page_test import Service


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    runwarden, plugins, folder = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:])
    samples = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "samples"
    service = Service(runwarden, plugins, str(samples))
    try:
        key = service.key("samples")
        group = next(item for item in service.get(key, "clusters?window=7d&sort=count")["items"] if item["detectorKey"] == "false_success")["clusterId"]
        with Browser() as browser:
            page = browser.page(width=1100, height=760)
            page.log_in(service.url, key)
            for name, path in (("groups", "/ui/groups"), ("group", f"/ui/groups/{group}?window=7d"), ("run", "/ui/runs/sample-094"),
                               ("baseline", "/ui/baseline?dimension=version&value=2.4.1")):
                page.go(service.url + path)
                page.screenshot(f"{folder}/page-{name}.png")
    finally:
        service.close()


if __name__ == "__main__":
    main()
