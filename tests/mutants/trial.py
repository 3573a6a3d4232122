"""Trying mutants: the tests that reach each run in a process of their own, until one of them fails.

The tests are collected once. A fork of that process has the changed functions in place of the loaded ones.
What runs at import is changed in its file and tried in a process that loads everything anew; so is what
survives.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from io import StringIO
from itertools import chain, zip_longest
from pathlib import Path

import pytest

from tests.mutants.live import Live
from tests.mutants.reach import Reach
from tests.mutants.sites import Mutant

#: How long, as measured, the tests of each round may take: few at first, as most mutants die at once.
ROUNDS = (1.5, 5.0, 25.0)

OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")


class Trials:
    """A plugin that tries mutants instead of running the tests, and tells of each whether it survives."""

    def __init__(
        self,
        package: Path,
        reach: Reach,
        mutants: Iterable[Mutant],
        tell: Callable[[Mutant, bool, str], None],
    ) -> None:
        self.package = package
        self.reach = reach
        self.mutants = mutants
        self.tell = tell
        self.failed = False

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try one after the other."""
        self.items = {item.nodeid: item for item in session.items}
        _warm()
        self.live = Live(self.package)
        session.config.get_terminal_writer()._file = StringIO()  # where the forks' dots go
        gc.collect()
        gc.freeze()
        known = next(rounds(self.items, self.reach.seconds))
        if not self._passes(known, lambda: None):
            sys.exit("some tests fail without any mutant")
        for mutant in self.mutants:
            self._try(mutant)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test has failed."""
        self.failed = self.failed or report.failed

    def _try(self, mutant: Mutant) -> None:
        began, file = time.monotonic(), self.package / mutant.file
        before = file.read_text("utf-8")
        after = mutant.applied(before)
        tests = [test for test in self.reach.tests(mutant.file, mutant.line) if test in self.items]
        told = list(rounds(tests, self.reach.seconds))
        changes = self.live.changes(file, before, after)
        alive = changes is None or all(
            self._passes(some, partial(self.live.make, file, changes)) for some in told
        )
        alive = alive and self._passes_anew(file, before, after, told)
        ran = sum(map(len, told))
        self.tell(mutant, alive, f"{ran} tests, {time.monotonic() - began:.0f} s")

    def _passes(self, tests: list[str], change: Callable[[], None]) -> bool:
        """Whether ``tests`` pass in a fork after ``change``."""
        child = os.fork()
        if child == 0:
            _alone(lambda: change() or self._run(tests), _limit(tests, self.reach.seconds))
        return _ended_well(child)

    def _run(self, tests: list[str]) -> bool:
        wanted = set(tests)
        chosen = [item for name, item in self.items.items() if name in wanted]
        for item, following in zip_longest(chosen, chosen[1:]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.failed:
                return False
        return True

    def _passes_anew(self, file: Path, before: str, after: str, told: list[list[str]]) -> bool:
        file.write_text(after, "utf-8")
        try:
            return _anew([test for some in told for test in some], self.reach.seconds)
        finally:
            file.write_text(before, "utf-8")


def _warm() -> None:
    """Load and compute what every fork would otherwise load and compute anew."""
    import reseller_sandbox

    for module in pkgutil.walk_packages(reseller_sandbox.__path__, "reseller_sandbox."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    sandbox = reseller_sandbox.Sandbox()
    for path in ("/v3/domains", "/V2.0/domain/active-example.com", "/_sandbox/openapi/v3.json"):
        sandbox.client().get(path)


def _limit(tests: list[str], seconds: dict[str, float]) -> int:
    """Return how many seconds of computing ``tests`` may take: more is as good as a failure."""
    return 10 + int(4 * sum(seconds.get(one, 1.0) for one in tests))


def _alone(work: Callable[[], bool], limit: int) -> None:
    """Do ``work`` in a process group of its own, silently, and end the process."""
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))  # whatever else the machine does
    done = False
    try:
        os.setpgid(0, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        done = work()
    finally:
        os._exit(0 if done else 1)


def _ended_well(child: int) -> bool:
    """Whether a process has ended without a failure; whatever it has started ends with it."""
    _, status = os.waitpid(child, 0)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status == 0


def _anew(tests: list[str], seconds: dict[str, float]) -> bool:
    """Whether ``tests`` pass in a process that loads everything anew."""
    asked = [sys.executable, "-m", "tests.mutants.trial", *dict.fromkeys(map(_file, tests))]
    limit = 120 + 20 * sum(seconds.get(one, 1.0) for one in tests)
    try:
        done = subprocess.run(
            asked, input="\n".join(tests), text=True, capture_output=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


class _Chosen:
    """A plugin that leaves the chosen tests alone."""

    def __init__(self, chosen: set[str]) -> None:
        self.chosen = chosen

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.chosen]


def rounds(tests: Iterable[str], seconds: dict[str, float]) -> Iterator[list[str]]:
    """Yield the tests of each round: one of each file in turn, the quickest first, while there is time."""
    by_file: dict[str, list[str]] = {}
    for test in sorted(tests, key=lambda one: seconds.get(one, 1.0)):
        by_file.setdefault(_file(test), []).append(test)
    files = sorted(by_file.values(), key=lambda them: sum(seconds.get(one, 1.0) for one in them[:10]))
    waiting = list(filter(None, chain.from_iterable(zip_longest(*files))))
    for allowed in ROUNDS:
        chosen: list[str] = []
        left: list[str] = []
        for test in waiting:
            allowed -= seconds.get(test, 1.0)
            (chosen if allowed > 0 or not chosen else left).append(test)
        if chosen:
            yield chosen
        waiting = left


def _file(test: str) -> str:
    return test.partition("::")[0]


if __name__ == "__main__":
    sys.exit(pytest.main([*OPTIONS, *sys.argv[1:]], plugins=[_Chosen(set(sys.stdin.read().splitlines()))]))
