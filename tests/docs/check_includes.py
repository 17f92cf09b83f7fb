#!/usr/bin/env python3
"""usage: check_includes.py SOURCE - the folders of host/ include one another only as the table in CONTRIBUTING.md says.

Prints each fault on a line of its own and exits 1 if there is any: an include that the table does not list, an entry that nothing uses, a folder
without a row or a row without a folder, a circle, a lock that clang does not check.
"""
import pathlib
import re
import sys

ROW = re.compile(r"^\| `(host[a-z_/]*)` \| ([a-z_/, ]*)\|")
LOCKS = re.compile(r"^#include <(mutex|shared_mutex|condition_variable)>", re.MULTILINE)
LOCKS_HOME = "host/base/mutex.h"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def listed(source):
    """Folder -> folders that its row names."""
    table = {}
    for line in (source / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines():
        if row := ROW.match(line):
            names = [name.strip() for name in row[2].split(",")]
            table[row[1]] = {"host/" + name for name in names if name}
    return table


def sources(source):
    return [path for path in sorted((source / "host").rglob("*")) if path.suffix in (".h", ".cpp")]


def used(source):
    """Folder -> {folder that it includes: one file that does}."""
    files = sources(source)
    known = {path.relative_to(source / "host").as_posix() for path in files}
    graph = {}
    for path in files:
        here = path.parent.relative_to(source).as_posix()
        arrows = graph.setdefault(here, {})
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            there = ("host/" + name).rpartition("/")[0]
            if name in known and there != here:
                arrows.setdefault(there, path.relative_to(source).as_posix())
    return graph


def circle(table):
    """Folders that include one another all around, or nothing."""
    done = set()

    def walk(folder, way):
        if folder in way:
            return way[way.index(folder):] + [folder]
        if folder in done:
            return None
        for there in sorted(table.get(folder, ())):
            if found := walk(there, way + [folder]):
                return found
        done.add(folder)
        return None

    for folder in sorted(table):
        if found := walk(folder, []):
            return found
    return None


def faults(source):
    table, graph = listed(source), used(source)
    for folder in sorted(graph.keys() - table.keys()):
        yield f"{folder} has no row in CONTRIBUTING.md"
    for folder in sorted(table.keys() - graph.keys()):
        yield f"CONTRIBUTING.md lists {folder}, which holds no source"
    for folder in sorted(graph.keys() & table.keys()):
        for there, file in sorted(graph[folder].items()):
            if there not in table[folder]:
                yield f"{file} includes {there}, which CONTRIBUTING.md does not list for {folder}"
        for there in sorted(table[folder] - graph[folder].keys()):
            yield f"CONTRIBUTING.md lists {there} for {folder}, which does not include it"
    for path in sources(source):
        name = path.relative_to(source).as_posix()
        if name != LOCKS_HOME and (found := LOCKS.search(path.read_text(encoding="utf-8"))):
            yield f"{name} includes <{found[1]}>, whose locks clang does not check; use {LOCKS_HOME}"
    if found := circle(table):
        yield "a circle: " + " -> ".join(found)


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
