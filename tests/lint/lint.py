#!/usr/bin/env python3
"""usage: lint.py [--all] SOURCE BUILD [FILE...] - clang-tidy, with .clang-tidy, on the sources of host/ and plugins/.

BUILD is the folder of the CMake preset "clang": its compile commands have -Wthread-safety, which is an error here as there. Without --all or
files: what differs from origin/main, or from HEAD where there is no such branch; a changed header is checked through its own source and
through those of its folder that include it. Prints what it finds and exits 1 if there is any.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

CHECKED = re.compile(r"^(host|plugins)/.*\.cpp$")


def git(source, *arguments):
    done = subprocess.run(["git", "-C", source, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def changed(source):
    base = git(source, "merge-base", "HEAD", "origin/main") or ["HEAD"]
    return git(source, "diff", "--name-only", "--diff-filter=d", base[0]) + git(source, "ls-files", "--others", "--exclude-standard")


def through(source, header):
    """The sources that show a header to the compiler."""
    folder = (source / header).parent
    line = f'#include "{header.removeprefix("host/").removeprefix("plugins/")}"'
    return [str(path.relative_to(source)) for path in folder.glob("*.cpp") if line in path.read_text(encoding="utf-8")]


def check(source, build, file):
    done = subprocess.run(["clang-tidy", "-p", build, "--quiet", str(source / file)], capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + ("" if done.returncode == 0 else done.stderr)


def main():
    arguments = [one for one in sys.argv[1:] if one != "--all"]
    source, build = pathlib.Path(arguments[0]).resolve(), arguments[1]
    commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text(encoding="utf-8"))
    known = {os.path.relpath(one["file"], source) for one in commands}
    files = known if "--all" in sys.argv else set(arguments[2:] or changed(source))
    for header in [one for one in files if one.endswith(".h")]:
        files.update(through(source, header))
    files = sorted(one for one in files & known if CHECKED.match(one))
    faulty = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        for fine, text in threads.map(lambda file: check(source, build, file), files):
            faulty += not fine
            print("" if fine else text, end="", flush=True)
    print(f"lint: {len(files)} sources checked, {faulty} with findings")
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
