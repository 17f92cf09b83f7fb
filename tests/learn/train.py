#!/usr/bin/env python3
"""usage: train.py --lines CANDIDATE,WIDE,BALANCED,STRICT [--shape TREES,DEPTH,LEAF] DATA.csv WEIGHTS.inc [--check] - learns how sure a detector may be where none of its rules is.

DATA.csv has a row for each labelled run in which the weights are asked: its source, whether the failure is there (1 or 0), how much the row
counts, and the measures that the detector's program prints for it. Boosted trees are learned from all of them, after a cross-validation
that leaves one source out at a time tells from which probability on they are right nine times of ten. Writes WEIGHTS.inc, which the
detector is built with; with --check only compares, and exits 1 where it differs. Needs Debian's python3-sklearn; same data, same weights.
"""

import argparse
import csv
import hashlib
import pathlib
import sys

import numpy
from sklearn.ensemble import GradientBoostingClassifier
from weights_file import settle

SHARE_OF_FOLDS = 6  # sources that bring few runs are left out together


def model(shape):
    trees, depth, leaf = shape
    return GradientBoostingClassifier(
        n_estimators=trees, max_depth=depth, learning_rate=0.05, subsample=0.5, max_features=0.2, min_samples_leaf=leaf, random_state=0
    )


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    names = rows[0][3:]
    body = rows[1:]
    return (
        names,
        numpy.array([row[0] for row in body]),
        numpy.array([int(row[1]) for row in body]),
        numpy.array([float(row[2]) for row in body]),
        numpy.array([[float(value) for value in row[3:]] for row in body], dtype=numpy.float32),
    )


def cross_validate(shape, sources, present, counts, measures):
    real = sorted({one for one in sources if one.startswith("real")})
    fold_of = {one: f"real {number % SHARE_OF_FOLDS}" for number, one in enumerate(real)}
    folds = numpy.array([fold_of.get(one, one) for one in sources])
    probable = numpy.zeros(len(present))
    for fold in sorted(set(folds)):
        held = folds == fold
        learned = model(shape).fit(measures[~held], present[~held], sample_weight=counts[~held])
        probable[held] = learned.predict_proba(measures[held])[:, 1]
    return probable


def tell(sources, present, probable):
    written = numpy.array([not one.startswith("real") for one in sources])
    for least in (0.02, 0.04, 0.06, 0.08, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85):
        sure = probable >= least
        right, false = (sure & written & (present == 1)).sum(), (sure & written & (present == 0)).sum()
        print(f"from {least}: written {right} right, {false} false; real {(sure & ~written).sum()}, {(sure & ~written & (present == 1)).sum()} known right")


def literal(value):
    text = f"{value:.9g}"
    return text + ("F" if "." in text or "e" in text else ".0F")


def write(names, learned, lines, digest):
    nodes, roots = [], []
    for (tree,) in learned.estimators_:
        inner = tree.tree_
        first = len(nodes)
        roots.append(first)
        for at in range(inner.node_count):
            if inner.children_left[at] < 0:
                value = inner.value[at][0][0] * learned.learning_rate
                nodes.append(f"{{-1, 0, 0, 0, {literal(value)}}}")
            else:
                nodes.append(
                    f"{{{inner.feature[at]}, {literal(inner.threshold[at])}, {first + inner.children_left[at]}, "
                    f"{first + inner.children_right[at]}, 0}}"
                )
    prior = learned.init_.class_prior_[1]
    base = float(numpy.log(prior / (1 - prior)))

    def wrap(parts, width=120):
        line, out = "   ", []
        for part in parts:
            if len(line) + len(part) + 2 > width:
                out.append(line)
                line = "   "
            line += f" {part},"
        return "\n".join(out + [line])

    quoted = [f'"{name}"' for name in names]
    return f"""// Made by tests/learn/train.py from data with the SHA-256 {digest}; do not edit.
namespace runwarden::plugins {{
namespace {{

constexpr std::array<std::string_view, {len(names)}> kMeasureNames = {{
{wrap(quoted)}
}};

constexpr TreeNode kNodes[] = {{
{wrap(nodes)}
}};

constexpr std::uint16_t kRoots[] = {{
{wrap([str(one) for one in roots])}
}};

constexpr Trees kWeights{{kMeasureNames, kNodes, kRoots, {literal(base)}, {", ".join(literal(float(one)) for one in lines)}}};

}}  // namespace
}}  // namespace runwarden::plugins
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("weights")
    parser.add_argument("--lines", required=True, help="probabilities from which a doubt is a candidate, and wide, balanced and strict fire")
    parser.add_argument("--shape", default="250,3,8", help="how many trees there are, how deep they are, and how many rows a leaf holds at least")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    names, sources, present, counts, measures = read(given.data)
    shape = [int(part) for part in given.shape.split(",")]
    if not given.check:
        tell(sources, present, cross_validate(shape, sources, present, counts, measures))
    learned = model(shape).fit(measures, present, sample_weight=counts)
    digest = hashlib.sha256(pathlib.Path(given.data).read_bytes()).hexdigest()
    text = write(names, learned, given.lines.split(","), digest)
    return settle(given.weights, text, given.check, f"tests/learn/train.py --lines {given.lines} --shape {given.shape} {given.data} {given.weights}")


if __name__ == "__main__":
    sys.exit(main())
