"""Suites of users, which pytest runs in this process or in another."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from _pytest.pytester import SysModulesSnapshot

from reseller_sandbox import Sandbox
from tests.command import QUICKLY

#: Runs a suite in this process with options, and returns the printed text.
Printed = Callable[..., str]


@pytest.fixture(scope="session", autouse=True)
def _packages_stay_loaded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the packages that a suite has loaded; pytester would forget them, and load them twice."""
    suites = tmp_path_factory.getbasetemp()

    def stays(name: str) -> bool:
        file = getattr(sys.modules[name], "__file__", None)
        return file is not None and suites not in Path(file).parents

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("_pytest.pytester.SysModulesSnapshot", lambda preserve: SysModulesSnapshot(stays))
        yield


@pytest.fixture
def printed(pytester: pytest.Pytester) -> Printed:
    """Returns the output of pytest for a suite that it runs in this process."""

    def run(suite: str, *options: str) -> str:
        pytester.makepyfile(test_suite=suite)
        done = pytester.runpytest_inprocess("-q", "--strict-markers", *options)
        return f"{done.stdout}\n{done.stderr}\nstatus {done.ret:d}"

    return run


def run(folder: Path, suite: str, *options: str, **environment: str) -> str:
    """Return the output of pytest for a suite that it runs in a separate process."""
    if suite:
        (folder / "test_suite.py").write_text(suite)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--strict-markers", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **QUICKLY, **environment},
    )
    return f"{done.stdout}{done.stderr}\nstatus {done.returncode}"


@pytest.fixture
def running() -> Iterator[str]:
    """The address of a running server, whose clock runs and in which something has happened."""
    sandbox = Sandbox(frozen=False)
    with sandbox.serve() as server:
        sandbox.simulate.register("from-a-test.com")
        yield server.url
        worlds = [world.name for world in sandbox.worlds.list().worlds]
        assert worlds == ["default"], "the tests have left worlds behind"
