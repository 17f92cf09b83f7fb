#!/usr/bin/python3
"""usage: train_sentences.py FEATURES SENTENCES.tsv MEASURED.csv WEIGHTS.inc [--check] - learns to read in a sentence that a deed is told or asked for.

FEATURES is the program learn_features. SENTENCES.tsv has a sentence on each line, behind tabs: who wrote it, who speaks (agent or user), and
whether it tells (agent) or asks for (user) a deed (1 or 0). MEASURED.csv has the same of sentences whose text is not kept, with the indexes of
their features instead. For each speaker a logistic regression over the features is learned, after a cross-validation that leaves one author out
at a time tells how often it is right. Writes WEIGHTS.inc, which the detectors are built with; with --check only compares, and exits 1 where it
differs. Needs Debian's python3-sklearn; same data, same weights.
"""

import argparse
import hashlib
import json
import pathlib
import subprocess
import sys

import numpy
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from weights_file import settle

FEATURES = 1 << 15  # kSentenceFeatures
MOST = 127  # a weight is a signed byte
PENALTY = {"agent": 0.3, "user": 0.3}


def model(speaker):
    return LogisticRegression(C=PENALTY[speaker], solver="liblinear", fit_intercept=False, random_state=0)


def read(path, measured, features):
    lines = [line.split("\t", 3) for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    texts = "".join(json.dumps(line[3]) + "\n" for line in lines)
    printed = subprocess.run([features], input=texts, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = {"agent": [], "user": []}
    for (author, speaker, label, _), indexes in zip(lines, printed, strict=True):
        rows[speaker].append((author, int(label), [int(one) for one in indexes.split()]))
    for line in pathlib.Path(measured).read_text(encoding="utf-8").splitlines():
        source, speaker, label, indexes = line.split(",")
        rows[speaker].append((source, int(label), [int(one) for one in indexes.split()]))
    return rows


def matrix(rows):
    ends = numpy.cumsum([0] + [len(indexes) for _, _, indexes in rows], dtype=numpy.int32)
    columns = numpy.concatenate([indexes for _, _, indexes in rows]).astype(numpy.int32)
    return csr_matrix((numpy.ones(len(columns)), columns, ends), shape=(len(rows), FEATURES))


def cross_validate(rows, speaker):
    authors = numpy.array([author for author, _, _ in rows])
    labels = numpy.array([label for _, label, _ in rows])
    seen = matrix(rows)
    probable = numpy.zeros(len(rows))
    for author in sorted(set(authors)):
        held = authors == author
        probable[held] = model(speaker).fit(seen[~held], labels[~held]).predict_proba(seen[held])[:, 1]
    print(f"{speaker}: {len(rows)} sentences, {labels.sum()} with a deed")
    for least in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        sure = probable >= least
        right, false = (sure & (labels == 1)).sum(), (sure & (labels == 0)).sum()
        print(f"  from {least}: {right} right, {false} wrong, {labels.sum() - right} missed")
    return probable


def write(learned, digest):
    tables = []
    for speaker, name in (("agent", "kTells"), ("user", "kAsks")):
        weights = learned[speaker].coef_[0]
        unit = float(abs(weights).max()) / MOST
        whole = numpy.rint(weights / unit).astype(int)
        line, body = "   ", []
        for one in whole:
            part = f" {one},"
            if len(line) + len(part) > 140:
                body.append(line)
                line = "   "
            line += part
        tables.append(f"constexpr float {name}Unit = {unit:.9g}F;\nconstexpr std::int8_t {name}[] = {{\n" + "\n".join(body + [line]) + "\n};\n")
    return (
        f"// Made by tests/learn/train_sentences.py from data with the SHA-256 {digest}; do not edit.\n"
        "namespace runwarden::plugins {\nnamespace {\n\n" + "\n".join(tables) + "\n}  // namespace\n}  // namespace runwarden::plugins\n"
    )


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
        for speaker in rows:
            cross_validate(rows[speaker], speaker)
    learned = {}
    for speaker, some in rows.items():
        learned[speaker] = model(speaker).fit(matrix(some), [label for _, label, _ in some])
    digest = hashlib.sha256(pathlib.Path(given.data).read_bytes() + pathlib.Path(given.measured).read_bytes()).hexdigest()
    text = write(learned, digest)
    command = f"tests/learn/train_sentences.py {given.features} {given.data} {given.measured} {given.weights}"
    return settle(given.weights, text, given.check, command)


if __name__ == "__main__":
    sys.exit(main())
