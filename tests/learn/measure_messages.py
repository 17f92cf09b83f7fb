#!/usr/bin/env python3
"""usage: measure_messages.py LEARN_FAILURES MESSAGES.jsonl DATA.csv [--check] - measures messages written for this project, for false_success to learn from.

MESSAGES.jsonl has calls on each line, as the steps of POST /v1/ingest/runs, the indexes of those that failed for good, and messages that an
agent may have written about them: `text`; `claims`, the index of the failed call that it claims as done, or null; and, for one that more
steps follow, `at`, the index of the step that says it, and `final`, what the agent says last. Each message makes a run, which LEARN_FAILURES,
the program learn_failures, measures. Replaces the rows of these authors in DATA.csv, behind all others; with --check only compares, and exits
1 where they differ. What a message claims of another failed call is not known, so such calls have no row.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys

CLAIMED, NOT_CLAIMED = "2", "1"  # how much a row counts


def run_of(record, message):
    steps = [dict(step) for step in record["steps"]]
    at = message.get("at")
    if at is None:
        last = message["text"]
    else:
        steps[at]["outputSummary"] = message["text"]
        last = message.get("final")
    if last is not None and steps[-1].get("outputSummary") != last:
        steps.append({"stepKind": "model", "stepName": "answer", "outputSummary": last})
    run = {"userRequestText": record["userRequestText"], "steps": steps}
    return run if last is None else run | {"outcomeSummary": last}


def rows_of(record, message, told):
    at = message.get("at")
    said_since = 0 if at is None else sum(step["stepKind"] == "model" for step in record["steps"][at + 1 :])
    said_since += "final" in message
    for doubt in told["doubts"]:
        claimed = message["claims"] is not None and doubt["step"] == message["claims"]
        if claimed and doubt["after"] != said_since:
            continue
        if message["claims"] is not None and not claimed and doubt["step"] in record["failed"]:
            continue
        yield [record["author"], str(int(claimed)), CLAIMED if claimed else NOT_CLAIMED, *(f"{value:.6g}" for value in doubt["values"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("messages")
    parser.add_argument("data")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    records = [json.loads(line) for line in pathlib.Path(given.messages).read_text(encoding="utf-8").splitlines()]
    asked = [(record, message) for record in records for message in record["messages"]]
    runs = "".join(json.dumps(run_of(*one), ensure_ascii=False) + "\n" for one in asked)
    printed = subprocess.run([given.program], input=runs, capture_output=True, encoding="utf-8", check=True).stdout.splitlines()
    told = [json.loads(line) for line in printed]
    new = [row for one, answer in zip(asked, told, strict=True) for row in rows_of(*one, answer)]

    with open(given.data, encoding="utf-8", newline="") as file:
        before = list(csv.reader(file))
    names = next(answer["names"] for answer in told if "names" in answer)
    if before[0][3:] != names:
        print(f"learn: {given.data} has other measures than {given.program}")
        return 1
    authors = {record["author"] for record in records}
    after = [row for row in before if row[0] not in authors] + new
    if given.check:
        if after != before:
            print(f"learn: the rows in {given.data} are not those of {given.messages}: run tests/learn/measure_messages.py")
            return 1
        print(f"learn: {given.data} has the rows of {given.messages}")
        return 0
    with open(given.data, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(after)
    print(f"learn: {len(new)} rows of {len(asked)} messages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
