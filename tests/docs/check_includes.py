#!/usr/bin/env python3
"""usage: check_includes.py SOURCE - the folders of host/ and of plugins/ include one another only as the tables in CONTRIBUTING.md say.

Prints each fault on a line of its own and exits 1 if there is any: an include that the table does not list, an entry that nothing uses, a folder
without a row or a row without a folder, a circle; for host/ also a folder or an arrow of the table that the drawing above it lacks or shows
otherwise, and a lock that clang does not check.

The drawing is the first fenced block without a language. A line of it is a folder of host/, below and right of one that includes it, and behind
"-->" further folders that it includes. Arrows that follow from others may be left out.
"""
import pathlib
import re
import sys

ROW = re.compile(r"^\| `((host|plugins)[a-z_/]*)` \| ([a-z_/, ]*)\|")
LOCKS = re.compile(r"^#include <(mutex|shared_mutex|condition_variable)>", re.MULTILINE)
LOCKS_HOME = "host/base/mutex.h"
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DRAWN = re.compile(r"^((?:[| ]   )*(?:[+`]-- )?)([a-z_/]+)(?: -+> ([a-z_/, ]+))?$")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def listed(source, root):
    """Folder of host/ or plugins/ -> folders that its row names."""
    table = {}
    for line in (source / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines():
        if (row := ROW.match(line)) and row[2] == root:
            names = [name.strip() for name in row[3].split(",")]
            table[row[1]] = {f"{root}/{name}" for name in names if name}
    return table


def drawn(source):
    """The drawing, folder -> folders that its lines lead to, and the line that cannot be read, or None."""
    fenced = FENCED.findall((source / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    arrows, above = {}, []
    for line in next((text for language, text in fenced if not language), "").splitlines():
        if not (match := DRAWN.match(line)):
            return arrows, line
        depth, name = len(match[1]) // 4, match[2] if match[2] == "host" else "host/" + match[2]
        if depth > len(above) or name in arrows:
            return arrows, line
        del above[depth:]
        if above:
            arrows[above[-1]].add(name)
        above.append(name)
        arrows[name] = {"host/" + there.strip() for there in (match[3] or "").split(",") if there.strip()}
    return arrows, None


def reached(folder, arrows):
    """All folders that arrows lead to from this one, over others too."""
    found, waiting = set(), [folder]
    while waiting:
        for there in arrows.get(waiting.pop(), ()):
            if there not in found:
                found.add(there)
                waiting.append(there)
    return found


def drawing_faults(source, table):
    arrows, unread = drawn(source)
    if unread is not None:
        yield f"the drawing in CONTRIBUTING.md cannot be read at: {unread}"
        return
    for folder in sorted(table.keys() - arrows.keys()):
        yield f"the drawing in CONTRIBUTING.md lacks {folder}"
    for folder in sorted(arrows.keys() - table.keys()):
        yield f"the drawing in CONTRIBUTING.md shows {folder}, which has no row"
    for folder in sorted(arrows.keys() & table.keys()):
        for there in sorted((arrows[folder] & table.keys()) - table[folder]):
            yield f"the drawing in CONTRIBUTING.md leads from {folder} to {there}, which the table does not list"
        for there in sorted((table[folder] & arrows.keys()) - reached(folder, arrows)):
            yield f"the drawing in CONTRIBUTING.md does not lead from {folder} to {there}, which the table lists"
    order = list(arrows)
    for folder in order:
        for there in sorted(arrows[folder] & table.keys() & arrows.keys()):
            if order.index(there) < order.index(folder):
                yield f"the drawing in CONTRIBUTING.md leads up from {folder} to {there}; put {there} below"


def sources(source, root):
    return [path for path in sorted((source / root).rglob("*")) if path.suffix in (".h", ".cpp")]


def used(source, root):
    """Folder -> {folder that it includes: one file that does}."""
    files = sources(source, root)
    known = {path.relative_to(source / root).as_posix() for path in files}
    graph = {}
    for path in files:
        here = path.parent.relative_to(source).as_posix()
        arrows = graph.setdefault(here, {})
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            there = f"{root}/{name}".rpartition("/")[0]
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


def table_faults(table, graph):
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
    if found := circle(table):
        yield "a circle: " + " -> ".join(found)


def lock_faults(source):
    for path in sources(source, "host"):
        name = path.relative_to(source).as_posix()
        if name != LOCKS_HOME and (found := LOCKS.search(path.read_text(encoding="utf-8"))):
            yield f"{name} includes <{found[1]}>, whose locks clang does not check; use {LOCKS_HOME}"


def faults(source):
    for root in ("host", "plugins"):
        yield from table_faults(listed(source, root), used(source, root))
    yield from lock_faults(source)
    table = listed(source, "host")
    if not circle(table):
        yield from drawing_faults(source, table)


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
