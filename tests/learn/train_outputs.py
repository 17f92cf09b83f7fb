#!/usr/bin/python3
"""usage: train_outputs.py FEATURES OUTPUTS.jsonl MEASURED.csv WEIGHTS.inc [--check] - learns to read in a call's output that it changed nothing.

FEATURES is the program learn_output_features. OUTPUTS.jsonl has a call on each line: who wrote it, its tool, input and output, and its outcome:
done, refused, partly or answer. MEASURED.csv has the same of calls whose texts are not kept, with the indexes of their features instead, and 1
for refused or partly done; they count half, as hardly anybody read them. A logistic regression over the features is learned, after a
cross-validation that leaves one author out at a time tells how often it is right. Writes WEIGHTS.inc, which the detectors are built with; with
--check only compares, and exits 1 where it differs. Needs Debian's python3-sklearn; same data, same weights.
"""

import json
import pathlib
import sys

from logistic import Rows, learn, printed_features

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
    return {"kUndone": rows}


if __name__ == "__main__":
    sys.exit(learn("train_outputs.py", __doc__, read, FEATURES, PENALTY))
