"""Each part of the benchmarks works: in tiny runs, whose figures say nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.measuring import ROOT, Figure
from tests.benchmarks.report import PARTS, Part, markdown


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_a_part_runs(part: str, tmp_path: Path) -> None:
    """From the command line, with or without the libraries beside which it measures; it writes its report."""
    page = tmp_path / "page.md"
    page.write_text("# Performance\n\n## Figures\n\nThose of yesterday\n")
    command = [sys.executable, "-m", "tests.benchmarks", part, "--tiny", "--markdown", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\d+ goals are missed$", done.stdout, re.MULTILINE)
    assert re.match(r"# Performance\n\n## Figures\n\nMeasured with Python ", page.read_text())
    assert f"### {part.capitalize()}" in page.read_text()
    assert "yesterday" not in page.read_text()


def test_a_part_that_there_is_not() -> None:
    """It is named, with those that there are."""
    command = [sys.executable, "-m", "tests.benchmarks", "answring"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no part answring; there are answering, suite, " in done.stderr


def test_a_report_tells_medians_with_their_spread_and_whether_a_goal_is_reached() -> None:
    """As a table, and the rates of servers as bars."""
    told: list[Figure | str] = [
        Figure("v3 balance", "requests/s", (900, 1000, 1250)),
        Figure("v3 balance", "× bare", (1.5, 2.25, 1.75), "≤ 1.5"),
        Figure("v3 balance", "× moto's rate", (5, 4, 7), "≥ 5"),
        "something is left out: there is no Java",
    ]
    lines = markdown("Python", [Part("answering", "Answers.", told)]).splitlines()
    assert "| v3 balance | 1,000 requests/s | 900 – 1,250 |  |  |" in lines
    assert "| v3 balance | 1.75 × bare | 1.5 – 2.25 | ≤ 1.5 (missed) |  |" in lines
    assert "| v3 balance | 5 × moto's rate | 4 – 7 | ≥ 5 |  |" in lines
    assert "* something is left out: there is no Java" in lines
    assert f"v3 balance {'█' * 40} 1,000" in lines


def test_a_report_tells_what_was_measured_when_the_goals_were_set() -> None:
    """Beside each figure that there was then; ratios of rates follow from the rates."""
    at = "at 64 connections"
    told = [
        Figure(f"v3 balance {at}", "requests/s", (3000,)),
        Figure(f"v3 balance {at}", "× bare", (2,), "≤ 1.75"),
        Figure(f"v3 getDomain {at}", "× moto's rate", (8,), "≥ 5"),
        Figure("export", "µs a name", (30,), "≤ 40"),
        Figure("export of what there was not then", "µs", (30,)),
    ]
    lines = markdown("Python", [Part("answering", "Answers.", told)]).splitlines()
    ends = [
        line.split(" | ")[-1].removesuffix(" |") for line in lines if line.startswith(("| v3", "| export"))
    ]
    assert ends == ["2,400", "3.75", "3.95", "88", ""]
