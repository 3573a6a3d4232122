"""Runs every benchmark and prints its results: ``python -m tests.benchmarks``."""

from __future__ import annotations

from tests.benchmarks import answering, clients, faults, following, forking, loading, soak, unmatched, waiting

BENCHMARKS = (answering, clients, faults, forking, loading, following, unmatched, waiting, soak)

for benchmark in BENCHMARKS:
    print(benchmark.__doc__)
    for line in benchmark.run():
        print(f"  {line}")
