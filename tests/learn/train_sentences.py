#!/usr/bin/python3
"""usage: train_sentences.py FEATURES SENTENCES.tsv MEASURED.csv WEIGHTS.inc [--check] - learns to read in a sentence that a deed is told or asked for.

FEATURES is the program learn_features. SENTENCES.tsv has a sentence on each line, behind tabs: who wrote it, who speaks (agent or user), and
1 where it tells (agent) or asks for (user) a deed, -1 where an agent's tells that one was not done, else 0. MEASURED.csv has the same of
sentences whose text is not kept, with the indexes of their features instead, and never -1. Logistic regressions over the features are
learned, after a cross-validation that leaves one author out at a time tells how often they are right. Writes WEIGHTS.inc, which the detectors
are built with; with --check only compares, and exits 1 where it differs. Needs Debian's python3-sklearn; same data, same weights.
"""

import pathlib
import sys

from logistic import Rows, learn, printed_features

FEATURES = 1 << 15  # kSentenceFeatures
PENALTY = 0.3
TABLES = {"agent": "kTells", "user": "kAsks"}
UNDONE = "kUndone"


def read(path, measured, features):
    lines = [line.split("\t", 3) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    rows = {speaker: Rows() for speaker in TABLES}
    undone = Rows()
    for (author, speaker, label, _), printed in zip(lines, printed_features(features, [line[3] for line in lines]), strict=True):
        rows[speaker].add(author, label == "1", printed)
        if speaker == "agent":
            undone.add(author, label == "-1", printed)
    for line in pathlib.Path(measured).read_text(encoding="utf-8").splitlines():
        source, speaker, label, printed = line.split(",")
        rows[speaker].add(source, label, printed)
    return {name: rows[speaker] for speaker, name in TABLES.items()} | {UNDONE: undone}


if __name__ == "__main__":
    sys.exit(learn("train_sentences.py", __doc__, read, FEATURES, PENALTY))
