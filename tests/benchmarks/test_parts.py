"""Each part of the benchmarks works, in tiny runs whose figures say nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.__main__ import PARTS
from tests.benchmarks.measuring import ROOT, Figure, markdown


@pytest.mark.slow
@pytest.mark.timeout(1000)
def test_every_benchmark_runs_and_writes_its_report(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Performance\n\n## Figures\n\nOld figures\n")
    command = [sys.executable, "-m", "tests.benchmarks", "--tiny", "--markdown", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d+ goals are missed$", done.stdout, re.MULTILINE)
    assert re.match(r"# Performance\n\n## Figures\n\nMeasured with Python ", page.read_text())
    assert "Old figures" not in page.read_text()
    assert re.findall(r"^### (\w+)", page.read_text(), re.MULTILINE) == [part.capitalize() for part in PARTS]


def test_a_benchmark_report_has_the_medians_the_spreads_and_the_missed_goals() -> None:
    results: list[Figure | str] = [
        Figure("v3 balance", "µs", (900, 1000, 1250)),
        Figure("v3 balance", "× bare", (1.5, 2.25, 1.75), 1.5),
        Figure("v3 balance", "MiB", (5, 4, 7), 5),
        "something is left out",
    ]
    lines = markdown({"answering": ("Responses.", results)}).splitlines()
    assert "| v3 balance | 1,000 µs | 900 – 1,250 |  |" in lines
    assert "| v3 balance | 1.75 × bare | 1.5 – 2.25 | ≤ 1.5 (missed) |" in lines
    assert "| v3 balance | 5 MiB | 4 – 7 | ≤ 5 |" in lines
    assert "* something is left out" in lines
