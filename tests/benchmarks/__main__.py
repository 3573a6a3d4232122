"""Runs every benchmark and prints its results: ``python -m tests.benchmarks``."""

from __future__ import annotations

from tests.benchmarks import answering, faults, forking, unmatched

BENCHMARKS = (answering, faults, forking, unmatched)

for benchmark in BENCHMARKS:
    print(benchmark.__doc__)
    for line in benchmark.run():
        print(f"  {line}")
