#!/usr/bin/env python3
"""usage: check_log_events.py SOURCE - the operator's guide lists the events of the log that host/ writes, and their levels.

Prints each fault on a line of its own and exits 1 if there is any.
"""
import pathlib
import re
import sys

GUIDE = "packaging/doc/operate.md"
WRITTEN = re.compile(r'LogLevel::(\w+),\s*"([a-z_]+)"')
ROW = re.compile(r"^\| `([a-z_]+)` \| ([a-z, ]+) \|", re.MULTILINE)
# The level of the first depends on what a detector reports; the others get their names from variables.
BY_OTHER_WAYS = {
    "detector": "info, warn, error",
    "clock_accepted": "info",
    "clock_jumped": "error",
    "clock_right_again": "info",
    "listening": "info",
    "listening_ops": "info",
}


def check(root):
    written = dict(BY_OTHER_WAYS)
    texts = [path.read_text() for path in sorted((root / "host").rglob("*.cpp"))]
    for text in texts:
        written |= {event: level for level, event in WRITTEN.findall(text)}
    section = re.search(r"^## Log events$(.*?)^## ", (root / GUIDE).read_text(), re.MULTILINE | re.DOTALL)
    listed = dict(ROW.findall(section[1] if section else ""))
    faults = [f"{GUIDE}: the log event {event} is missing" for event in written.keys() - listed.keys()]
    faults += [f"{GUIDE}: no source writes the log event {event}" for event in listed.keys() - written.keys()]
    faults += [f"host/ has no log event {event}" for event in BY_OTHER_WAYS if not any(f'"{event}"' in text for text in texts)]
    both = written.keys() & listed.keys()
    faults += [f"{GUIDE}: {event} has the level {written[event]}" for event in both if written[event] != listed[event].strip()]
    return sorted(faults)


def main():
    faults = check(pathlib.Path(sys.argv[1]))
    print(*faults, sep="\n", end="\n" if faults else "")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
