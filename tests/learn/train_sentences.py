#!/usr/bin/python3
"""usage: train_sentences.py FEATURES SENTENCES.tsv MEASURED.csv WEIGHTS.inc [--check] - learns to read in a sentence that a deed is told or asked for.

FEATURES is the program learn_features. SENTENCES.tsv has a sentence on each line, behind tabs: who wrote it, who speaks (agent or user), and
whether it tells (agent) or asks for (user) a deed (1 or 0). MEASURED.csv has the same of sentences whose text is not kept, with the indexes of
their features instead. For each speaker a logistic regression over the features is learned, after a cross-validation that leaves one author out
at a time tells how often it is right. Writes WEIGHTS.inc, which the detectors are built with; with --check only compares, and exits 1 where it
differs. Needs Debian's python3-sklearn; same data, same weights.
"""

import pathlib
import sys

from logistic import Rows, learn, printed_features

FEATURES = 1 << 15  # kSentenceFeatures
PENALTY = 0.3
TABLES = {"agent": "kTells", "user": "kAsks"}


def read(path, measured, features):
    lines = [line.split("\t", 3) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    rows = {speaker: Rows() for speaker in TABLES}
    for (author, speaker, label, _), printed in zip(lines, printed_features(features, [line[3] for line in lines]), strict=True):
        rows[speaker].add(author, label, printed)
    for line in pathlib.Path(measured).read_text(encoding="utf-8").splitlines():
        source, speaker, label, printed = line.split(",")
        rows[speaker].add(source, label, printed)
    return {name: rows[speaker] for speaker, name in TABLES.items()}


if __name__ == "__main__":
    sys.exit(learn("train_sentences.py", __doc__, read, FEATURES, PENALTY))
