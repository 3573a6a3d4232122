"""Trying a mutant: the tests that reach it run in a process of its own, until one of them fails."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from pathlib import Path

import pytest

#: How long, as measured, the tests of each round may take: few at first, as most mutants die at once.
ROUNDS = (3.0, 25.0)

#: Libraries that the processes share, so that not each has to load them.
LOADED_ONCE = (
    "flask.testing",
    "marshmallow",
    "apispec.ext.marshmallow",
    "hypothesis.stateful",
    "httpx",
    "requests",
    "jsonschema",
    "yaml",
    "rpds",
    "re2",
    "idna",
    "dateutil.relativedelta",
    "uvicorn.protocols.http.httptools_impl",
    "rich.table",
)


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
        by_file.setdefault(test.partition("::")[0], []).append(test)
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


def survives(tree: Path, tests: list[str], seconds: dict[str, float]) -> bool:
    """Whether every one of ``tests`` passes in ``tree``; taking far too long is as good as failing."""
    child = os.fork()
    if child == 0:
        _run(tree, tests)
    limit = time.monotonic() + 60 + 5 * sum(seconds.get(one, 1.0) for one in tests)
    while time.monotonic() < limit:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _run(tree: Path, tests: list[str]) -> None:
    code = 1
    try:
        os.setpgid(0, 0)
        os.chdir(tree)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what is loaded once
        code = int(pytest.main([*options, *files], plugins=[_Chosen(set(tests))]))
    finally:
        os._exit(code)


def prepare(tree: Path) -> None:
    """Have everything that follows, in this process and in those it starts, import from ``tree``."""
    for name in LOADED_ONCE:
        __import__(name)
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTHONPATH"] = os.pathsep.join([str(tree / "sandbox"), str(tree)])
    sys.path[:0] = [str(tree / "sandbox"), str(tree)]
    for name in [one for one in sys.modules if one.split(".")[0] in ("reseller_sandbox", "tests")]:
        del sys.modules[name]
