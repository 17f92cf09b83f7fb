"""Logistic regressions over features that a program prints as indexes: learned, checked with one author left out at a time, and written as C++."""

import argparse
import hashlib
import json
import pathlib
import subprocess

import numpy
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from weights_file import settle

MOST = 127  # a weight is a signed byte


class Rows:
    """Labeled rows: whose they are, 1 or 0, how much they count, and the indexes of their features."""

    def __init__(self):
        self.authors, self.labels, self.weights, self.indexes = [], [], [], []

    def add(self, author, label, printed, weight=1.0):
        self.authors.append(author)
        self.labels.append(int(label))
        self.weights.append(weight)
        self.indexes.append([int(one) for one in printed.split()])

    def matrix(self, features):
        ends = numpy.cumsum([0] + [len(some) for some in self.indexes], dtype=numpy.int32)
        columns = numpy.concatenate(self.indexes).astype(numpy.int32)
        return csr_matrix((numpy.ones(len(columns)), columns, ends), shape=(len(self.indexes), features))


def printed_features(program, records):
    """What the program prints for each record, which it is given as JSON on a line."""
    texts = "".join(json.dumps(record) + "\n" for record in records)
    return subprocess.run([program], input=texts, capture_output=True, text=True, check=True).stdout.splitlines()


def model(penalty):
    return LogisticRegression(C=penalty, solver="liblinear", fit_intercept=False, random_state=0)


def fit(rows, features, penalty):
    return model(penalty).fit(rows.matrix(features), rows.labels, sample_weight=rows.weights)


def cross_validate(rows, name, features, penalty):
    """Leaves out one author at a time and prints how often the weights are right. Returns how likely each row is held for."""
    authors, labels, weights = numpy.array(rows.authors), numpy.array(rows.labels), numpy.array(rows.weights)
    seen = rows.matrix(features)
    probable = numpy.zeros(len(labels))
    for author in sorted(set(rows.authors)):
        held = authors == author
        learned = model(penalty).fit(seen[~held], labels[~held], sample_weight=weights[~held])
        probable[held] = learned.predict_proba(seen[held])[:, 1]
    print(f"{name}: {len(labels)} rows, {labels.sum()} of them so")
    for least in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        sure = probable >= least
        right, false = (sure & (labels == 1)).sum(), (sure & (labels == 0)).sum()
        print(f"  from {least}: {right} right, {false} wrong, {labels.sum() - right} missed")
    return probable


def table(name, learned):
    """The weights as a C++ table of signed bytes, and what one unit of them is."""
    weights = learned.coef_[0]
    unit = float(abs(weights).max()) / MOST
    line, body = "   ", []
    for one in numpy.rint(weights / unit).astype(int):
        part = f" {one},"
        if len(line) + len(part) > 140:
            body.append(line)
            line = "   "
        line += part
    return f"constexpr float {name}Unit = {unit:.9g}F;\nconstexpr std::int8_t {name}[] = {{\n" + "\n".join(body + [line]) + "\n};\n"


def learn(script, doc, read, features, penalty):
    """Runs a script: FEATURES, the data, the measured data and the weights' file are its arguments. `read` gives the rows of each table by
    its C++ name. Returns the exit code."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("features", "data", "measured", "weights"):
        parser.add_argument(name)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    rows = read(given.data, given.measured, given.features)
    if not given.check:
        for name, some in rows.items():
            cross_validate(some, name, features, penalty)
    digest = hashlib.sha256(pathlib.Path(given.data).read_bytes() + pathlib.Path(given.measured).read_bytes()).hexdigest()
    texts = [table(name, fit(some, features, penalty)) for name, some in rows.items()]
    text = (
        f"// Made by tests/learn/{script} from data with the SHA-256 {digest}; do not edit.\n"
        "namespace runwarden::plugins {\nnamespace {\n\n" + "\n".join(texts) + "\n}  // namespace\n}  // namespace runwarden::plugins\n"
    )
    command = f"tests/learn/{script} {given.features} {given.data} {given.measured} {given.weights}"
    return settle(given.weights, text, given.check, command)
