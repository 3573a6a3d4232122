"""Which tests reach which lines, and how long each takes: measured once, by running them all."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import coverage
import pytest


@dataclass(frozen=True)
class Reach:
    """What was measured: the seconds each test takes, and the tests that reach each line of each file."""

    seconds: dict[str, float]
    lines: dict[str, dict[str, list[str]]]

    def tests(self, file: str, line: int) -> list[str]:
        """Return the tests that reach a line; of one that no test does, those of its file, or all."""
        of_file = self.lines.get(file, {})
        return (
            of_file.get(str(line))
            or list(dict.fromkeys(test for tests in of_file.values() for test in tests))
            or list(self.seconds)
        )


class _Measure:
    """A plugin that gives every test a context of its own and adds up its time."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.measured.switch_context(item.nodeid)
        yield
        self.measured.switch_context("")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration


def measure(package: Path, tests: list[str], kept: Path) -> int:
    """Run ``tests``, write what they reach in ``package`` to ``kept``, and return pytest's exit code."""
    measured = coverage.Coverage(data_file=None, source=[str(package)], config_file=False)
    plugin = _Measure(measured)
    measured.start()
    code = pytest.main(["-q", "-p", "no:cacheprovider", *tests], plugins=[plugin])
    measured.stop()
    data = measured.get_data()
    lines = {
        str(Path(file).relative_to(package)): {
            str(line): sorted(filter(None, contexts))
            for line, contexts in data.contexts_by_lineno(file).items()
            if any(contexts)
        }
        for file in data.measured_files()
    }
    kept.write_text(json.dumps({"seconds": plugin.seconds, "lines": lines}))
    return int(code)


if __name__ == "__main__":
    sys.exit(measure(Path(sys.argv[1]), sys.argv[3:], Path(sys.argv[2])))
