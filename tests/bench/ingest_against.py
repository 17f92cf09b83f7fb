#!/usr/bin/env python3
"""usage: ingest_against.py BENCH_GROUPS OTHER_BENCH_GROUPS [ROUNDS [SECONDS]] - how fast one build stores runs, against another.

Each program is tests/bench/groups_bench.cpp, built from the two versions to compare. Rounds alternate, so that what else the machine does
falls on both; prints each round's rates and ratio, and last the median of the ratios.
"""
import statistics
import subprocess
import sys
import tempfile


def rate(program, seconds):
    with tempfile.TemporaryDirectory(dir=".") as folder:
        return float(subprocess.run([program, "ingest", folder + "/store", str(seconds)], check=True, capture_output=True, text=True).stdout)


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    programs = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 5
    ratios = []
    for number in range(rounds):
        order = programs if number % 2 == 0 else programs[::-1]
        rates = {program: rate(program, seconds) for program in order}
        ratios.append(rates[programs[0]] / rates[programs[1]])
        print(f"round {number + 1}: {rates[programs[0]]:.0f} against {rates[programs[1]]:.0f} runs/s, ratio {ratios[-1]:.3f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
