#!/usr/bin/env python3
"""Lists, beside each detector of plugins/, the rules that its answers can name in `suppressed`, from its sources.

usage: rules.py FOLDER          prints what differs from plugins/*/RULES.md; 1 if anything does
       rules.py FOLDER --write  writes them
"""

import pathlib
import re
import sys

SILENCES = "silences"
CANDIDATE = "leaves a candidate"
# How a source says that a rule speaks: what precedes its name, and what it does then.
SAID = [
    (r"suppress\(", SILENCES),
    (r"Silence\{", SILENCES),
    (r"Doubt \w+\{", CANDIDATE),
    (r"fires\(\w+,\s*\{", CANDIDATE),
    (r"add_candidate\(k\w+,\s*", CANDIDATE),
]


def rules_of(folder):
    found = {}
    for source in sorted(folder.glob("*.cpp")):
        text = source.read_text()
        # A rule that is told further down, with a reason of its own there: rule = "progress".
        for match in re.finditer(r'\brule = "([a-z_]+)";', text):
            reason = re.search(rf'rule == "{match.group(1)}"\) reason = "([^"]*)"', text)
            reasons = found.setdefault((match.group(1), SILENCES), [])
            if reason and reason.group(1) not in reasons:
                reasons.append(reason.group(1))
        for before, does in SAID:
            for match in re.finditer(before + r'"([a-z_]+)"[^";]*?((?:"(?:[^"\\]|\\.)*"\s*)+)', text):
                reason = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match.group(2))).strip()
                reasons = found.setdefault((match.group(1), does), [])
                if reason and reason not in reasons:
                    reasons.append(reason)
    fill_in(found, "\n".join(source.read_text() for source in sorted(folder.glob("*.cpp"))))
    return found


def fill_in(found, text):
    """Reasons that a source gives by the rule's name: == "progress" ? "one" : "other", or one that holds unless another is named."""
    choice = re.search(r'== "([a-z_]+)"\s*\?\s*"([^"]*)"\s*:\s*"([^"]*)"', text)
    otherwise = re.search(r'string_view reason = "([^"]*)"', text)
    for (rule, _), reasons in found.items():
        if reasons:
            continue
        if choice:
            reasons.append(choice.group(2) if rule == choice.group(1) else choice.group(3))
        elif otherwise:
            reasons.append(otherwise.group(1))


def page(name, rules):
    lines = [
        f"# Rules of {name}",
        "",
        "What an answer's `suppressed` can name, and why; made of the sources by `tests/docs/rules.py --write`. A rule that silences says that there is no",
        "failure; one that leaves a candidate says that it is not sure enough for the `sensitivity`, and how sure (`confidence`).",
        "",
        "| rule | does | when |",
        "| --- | --- | --- |",
    ]
    for (rule, does), reasons in sorted(rules.items()):
        lines.append(f"| `{rule}` | {does} | {'; '.join(reasons)} |")
    return "\n".join(lines) + "\n"


def main():
    root = pathlib.Path(sys.argv[1])
    differs = False
    for folder in sorted((root / "plugins").iterdir()):
        rules = rules_of(folder) if (folder / f"{folder.name}_plugin.cpp").exists() else {}
        if not rules:
            continue
        path = folder / "RULES.md"
        text = page(folder.name, rules)
        if "--write" in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            differs = True
            print(f"{path.relative_to(root)} is not what the sources say: run tests/docs/rules.py . --write")
    return 1 if differs else 0


if __name__ == "__main__":
    sys.exit(main())
