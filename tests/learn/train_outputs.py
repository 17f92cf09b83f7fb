#!/usr/bin/python3
"""usage: train_outputs.py FEATURES OUTPUTS.jsonl MEASURED.csv WEIGHTS.inc [--check] - learns to read in a call's output that it changed nothing.

FEATURES is the program learn_output_features. OUTPUTS.jsonl has a call on each line: who wrote it, its tool, input and output, and its outcome:
done, refused, partly or answer. MEASURED.csv has the same of calls whose texts are not kept, with the indexes of their features instead, and 1
for refused or partly done; they count half, as hardly anybody read them. A logistic regression over the features is learned, after a
cross-validation that leaves one author out at a time tells how often it is right. Writes WEIGHTS.inc, which the detectors are built with; with
--check only compares, and exits 1 where it differs. Needs Debian's python3-sklearn; same data, same weights.
"""

import argparse
import hashlib
import json
import pathlib
import sys

from logistic import Rows, cross_validate, fit, printed_features, table, tables
from weights_file import settle

FEATURES = 1 << 16  # kOutputFeatures
PENALTY = 0.1
MEASURED = 0.5  # how much a call counts whose label is that of its run
UNDONE = ("refused", "partly")


def read(path, measured, features):
    calls = [json.loads(line) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    rows = Rows()
    for call, printed in zip(calls, printed_features(features, calls), strict=True):
        rows.add(call["author"], call["outcome"] in UNDONE, printed)
    for line in pathlib.Path(measured).read_text(encoding="utf-8").splitlines():
        source, label, printed = line.split(",")
        rows.add(source, label, printed, MEASURED)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features")
    parser.add_argument("data")
    parser.add_argument("measured")
    parser.add_argument("weights")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    rows = read(given.data, given.measured, given.features)
    if not given.check:
        cross_validate(rows, "undone", FEATURES, PENALTY)
    digest = hashlib.sha256(pathlib.Path(given.data).read_bytes() + pathlib.Path(given.measured).read_bytes()).hexdigest()
    text = tables("train_outputs.py", digest, [table("kUndone", fit(rows, FEATURES, PENALTY))])
    command = f"tests/learn/train_outputs.py {given.features} {given.data} {given.measured} {given.weights}"
    return settle(given.weights, text, given.check, command)


if __name__ == "__main__":
    sys.exit(main())
