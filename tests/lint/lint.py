#!/usr/bin/env python3
"""usage: lint.py [--all] SOURCE BUILD [FILE...] - clang-tidy, with .clang-tidy, on the sources of host/ and plugins/, and clang-format on C++.

BUILD is the folder of the CMake preset "clang": its compile commands have -Wthread-safety, which is an error here as there. Without --all or
files: what differs from origin/main, or from HEAD where there is no such branch; a changed header is checked through its own source and
through those of its folder that include it. Of a file that differs, clang-format looks at the lines that do, with --all too: many
older lines do not follow .clang-format. Prints what it finds and exits 1 if there is any.
"""
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys

CHECKED = re.compile(r"^(host|plugins)/.*\.cpp$")
FORMATTED = re.compile(r"\.(cpp|h)$")
# Debian 12's, by its number: another version breaks lines elsewhere.
FORMATTER = "clang-format-14"


def git(source, *arguments):
    done = subprocess.run(["git", "-C", source, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def base_of(source):
    return (git(source, "merge-base", "HEAD", "origin/main") or ["HEAD"])[0]


def untracked(source):
    return git(source, "ls-files", "--others", "--exclude-standard")


def changed(source):
    return git(source, "diff", "--name-only", "--diff-filter=d", base_of(source)) + untracked(source)


def through(source, header):
    """The sources that show a header to the compiler."""
    folder = (source / header).parent
    line = f'#include "{header.removeprefix("host/").removeprefix("plugins/")}"'
    return [str(path.relative_to(source)) for path in folder.glob("*.cpp") if line in path.read_text(encoding="utf-8")]


def check(source, build, file):
    done = subprocess.run(["clang-tidy", "-p", build, "--quiet", str(source / file)], capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + ("" if done.returncode == 0 else done.stderr)


def formatting(source, files):
    """What clang-format would change of the lines that differ, as a diff; empty: nothing."""
    new = set(untracked(source))
    files = sorted(one for one in files if FORMATTED.search(one))
    text = ""
    if known := [one for one in files if one not in new]:
        command = ["git", "clang-format-14", "--binary", FORMATTER, "--extensions", "cpp,h", "--diff", base_of(source), "--", *known]
        done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1) or done.stderr:
            sys.exit(f"lint: git clang-format-14 failed: {done.stderr.strip()}")
        if done.stdout.startswith("diff "):
            text = done.stdout
    for file in [one for one in files if one in new]:
        is_now = (source / file).read_text(encoding="utf-8")
        done = subprocess.run([FORMATTER, str(source / file)], capture_output=True, text=True, check=True)
        text += "".join(difflib.unified_diff(is_now.splitlines(True), done.stdout.splitlines(True), f"a/{file}", f"b/{file}"))
    return text


def main():
    arguments = [one for one in sys.argv[1:] if one != "--all"]
    source, build = pathlib.Path(arguments[0]).resolve(), arguments[1]
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text(encoding="utf-8"))
    known = {os.path.relpath(one["file"], source) for one in commands}
    differing = set(changed(source))
    files = known if "--all" in sys.argv else set(arguments[2:]) or set(differing)
    unformatted = formatting(source, differing if "--all" in sys.argv else differing & files)
    for header in [one for one in files if one.endswith(".h")]:
        files.update(through(source, header))
    files = sorted(one for one in files & known if CHECKED.match(one))
    faulty = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        for fine, text in threads.map(lambda file: check(source, build, file), files):
            faulty += not fine
            print("" if fine else text, end="", flush=True)
    print(f"lint: {len(files)} sources checked, {faulty} with findings")
    if unformatted:
        print(unformatted, end="")
        print(f"lint: these lines are not formatted as .clang-format says; `git clang-format-14 -f {base_of(source)}` mends what git tracks")
    return 1 if faulty or unformatted else 0


if __name__ == "__main__":
    sys.exit(main())
