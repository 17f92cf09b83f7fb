#!/usr/bin/env python3
"""usage: trim_test.py CMAKE PROJECT - the page's scripts say the same once cmake/embed_text.cmake has trimmed them: same words, operators and texts."""
import pathlib
import re
import subprocess
import sys
import tempfile

OPERATORS = ["=>", "===", "!==", "&&=", "||=", "??=", "&&", "||", "??", "==", "!=", "<=", ">=", "++", "--", "+=", "-=", "*=", "/=", "**", "...", "?.", "<<", ">>"]
TOKEN = re.compile(r"""(?P<left_out>\s+|//[^\n]*|/\*.*?\*/)|(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?P<template>`)
    |(?P<pattern>(?<=[(,=:!&|?{};\s])/(?!\s)(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)|(?P<word>[\w$#]+)|(?P<operator>""" +
                   "|".join(re.escape(one) for one in sorted(OPERATORS, key=len, reverse=True)) + r"|.)", re.X)


def tokens(source):
    """What a script is made of, without space and comments. Pieces of templates are texts; what stands in ${} is code."""
    found = []

    def template(at):
        began = at
        while source[at] != "`":
            if source.startswith("${", at):
                found.append(("text", source[began:at]))
                began = at = code(at + 2)
            else:
                at += 2 if source[at] == "\\" else 1
        found.append(("text", source[began:at]))
        return at + 1

    def code(at):
        depth = 0
        while at < len(source):
            match = TOKEN.match(source, at)
            at = match.end()
            kind, token = match.lastgroup, match.group()
            if kind == "template":
                at = template(at)
            elif kind != "left_out":
                depth += {"{": 1, "}": -1}.get(token, 0)
                found.append((kind, token))
                if depth < 0:
                    return at
        return at

    code(0)
    return found


def trimmed(cmake, script, file, folder):
    output = pathlib.Path(folder, "out.cpp")
    subprocess.run([cmake, f"-DINPUT={file}", f"-DOUTPUT={output}", "-DSYMBOL=symbol", "-DTRIM=ON", "-P", script], check=True)
    return "".join(re.findall(r'R"~embed~\((.*?)\)~embed~"', output.read_text(encoding="utf-8"), re.S))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    project = pathlib.Path(sys.argv[2])
    files = sorted(project.glob("host/page/*.js"))
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            wanted = tokens(file.read_text(encoding="utf-8"))
            got = tokens(trimmed(sys.argv[1], project / "cmake/embed_text.cmake", file, folder))
            differing = next((pair for pair in zip(wanted, got) if pair[0] != pair[1]), None if len(wanted) == len(got) else ("more", "less"))
            if differing:
                wrong.append(f"{file.name}: {differing[0]} has become {differing[1]}")
    print("\n".join(wrong) or f"{len(files)} scripts say the same")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
