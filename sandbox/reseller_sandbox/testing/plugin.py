"""The pytest plugin: a world of its own for every test, forked from one that is seeded once.

It is there once reseller-sandbox is installed. ``@pytest.mark.reseller_sandbox(...)`` gives a function, a
class or a module other settings: whatever ``Sandbox`` takes. What it leaves open, the environment and a
``pyproject.toml`` say, as for the command line. Nothing but pytest is loaded before a test asks for a world.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from reseller_sandbox import Sandbox
    from reseller_sandbox.testing.run import Sandboxes

_MODE = "reseller_sandbox_mode"
_STRICT = "reseller_sandbox_strict"
_MODE_HELP = (
    "where the worlds of reseller-sandbox live: process (the default), server (one of this run), "
    "or the address of one that runs"
)
_STRICT_HELP = (
    "what fails a test when it is left over: faults that never struck, plans that never did, advice"
)

_COVERAGE = "reseller_sandbox_coverage"
_COVERAGE_HELP = (
    "report how much of the contract the tests have exercised: term (the default), html, json, or several of "
    "these, with a file as in html:coverage.html"
)
_COVER_MIN = "reseller_sandbox_cover_min"
_COVER_MIN_HELP = (
    "fail the run when less of the contract than so many percent is exercised, in all or, as in "
    "operations=90,errors=40, in an area"
)
_COVER_OF = "reseller_sandbox_cover_of"
_COVER_OF_HELP = "a pattern of the operations that coverage is about, such as v3.*"

_SWEEP = "reseller_sandbox_sweep"
_SWEEP_HELP = (
    "run each test that passes again for each of its requests and each thing that can go wrong with it, and "
    "show what came of it: all (the default), or some of lost-request, lost-answer, slow-answer, twice, "
    "error, garbage, rate-limited, assumptions, outsiders"
)

_EXPLORE = "reseller_sandbox_explore"

#: The worlds of the run, once a test has asked for one.
_RUN = pytest.StashKey["Sandboxes"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Make the options known, and their keys in pytest's own file."""
    group = parser.getgroup("reseller-sandbox")
    for name, about, more in (
        (_MODE, _MODE_HELP, {"metavar": "MODE"}),
        (_STRICT, _STRICT_HELP, {"metavar": "NAMES"}),
        (_COVERAGE, _COVERAGE_HELP, {"metavar": "FORM", "nargs": "?", "const": "term", "action": "append"}),
        (_COVER_MIN, _COVER_MIN_HELP, {"metavar": "PERCENT"}),
        (_COVER_OF, _COVER_OF_HELP, {"metavar": "PATTERN"}),
        (_SWEEP, _SWEEP_HELP, {"metavar": "KINDS", "nargs": "?", "const": "all"}),
    ):
        flag = f"--{name.replace('_', '-')}"
        group.addoption(flag, dest=name, default=None, help=about, **more)
        parser.addini(name, f"{about}; the same as {flag}", default="")


def pytest_configure(config: pytest.Config) -> None:
    """Make the mark known, have the sandbox loaded as it is, and report on coverage or sweep where asked to.

    Of a package with a plugin pytest would compile every module anew, for the sake of its assertions: that is
    a quarter of the time that the first test waits.
    """
    getattr(config.pluginmanager.rewrite_hook, "_must_rewrite", set()).discard("reseller_sandbox")
    config.addinivalue_line("markers", "reseller_sandbox(**settings): the settings of this test's sandbox")
    config.addinivalue_line(
        "markers",
        "reseller_sandbox_explore(actors=2, max_runs=200, schedule=''): run this test in every order of the "
        "requests of its threads that could matter",
    )
    forms, least = _said(config, _COVERAGE), _said(config, _COVER_MIN)
    if forms or least:
        from reseller_sandbox.testing.coverage import Collector, wishes

        wanted = wishes(forms, least, _said(config, _COVER_OF), config.invocation_params.dir)
        config.pluginmanager.register(Collector(wanted), _COVERAGE)
    if kinds := _said(config, _SWEEP):
        from reseller_sandbox.testing.sweeping import SweepingTests, wished

        config.pluginmanager.register(SweepingTests(wished(kinds), _RUN), _SWEEP)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have tests explored, where some are marked."""
    if any(item.get_closest_marker(_EXPLORE) for item in items) and not config.pluginmanager.has_plugin(
        _EXPLORE
    ):
        from reseller_sandbox.testing.exploring import ExploringTests

        config.pluginmanager.register(ExploringTests(_RUN), _EXPLORE)


@pytest.fixture(scope="session")
def reseller_sandboxes(pytestconfig: pytest.Config) -> Iterator[Sandboxes]:
    """Yield the worlds of this run: fork one, seed it in a fixture of any scope, fork that again."""
    run = _sandboxes(pytestconfig)
    pytestconfig.stash[_RUN] = run
    if (collector := pytestconfig.pluginmanager.get_plugin(_COVERAGE)) is not None:
        run.watcher.observe = collector.collect
    run.watcher.begin()
    yield run
    del pytestconfig.stash[_RUN]
    run.end()


@pytest.fixture
def reseller_sandbox(request: pytest.FixtureRequest, reseller_sandboxes: Sandboxes) -> Iterator[Sandbox]:
    """Yield a world for this test, forked from the seeded one."""
    with reseller_sandboxes.world_of(request.node) as world:
        yield world


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Keep the worlds that a test makes until all has been said of it."""
    if (run := item.config.stash.get(_RUN, None)) is not None:
        run.watcher.begin()
    try:
        return (yield)
    finally:
        if (run := item.config.stash.get(_RUN, None)) is not None:
            run.watcher.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fail a test that has passed, where something is left over that must not be."""
    yield
    run = item.config.stash.get(_RUN, None)
    if run is not None and (lines := run.left_over(item)):
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to the report of a failed test what happened in its worlds."""
    report = yield
    run = item.config.stash.get(_RUN, None)
    if report.failed and run is not None and not run.is_lent:
        report.sections += run.sections(item)
    return report


def _sandboxes(config: pytest.Config) -> Sandboxes:
    from reseller_sandbox.settings import BadSetting
    from reseller_sandbox.testing.marks import read_strict
    from reseller_sandbox.testing.modes import mode_of
    from reseller_sandbox.testing.run import Sandboxes

    cache = getattr(config, "cache", None)
    try:
        return Sandboxes(
            mode_of(_said(config, _MODE) or "process"),
            config.invocation_params.dir,
            read_strict(_said(config, _STRICT)),
            cache.mkdir("reseller-sandbox") if cache is not None else None,
        )
    except BadSetting as problem:
        pytest.exit(f"reseller-sandbox: {problem}", returncode=pytest.ExitCode.USAGE_ERROR)


def _said(config: pytest.Config, name: str) -> str:
    """Return what the option says, or the environment, or pytest's file."""
    option = config.getoption(name)
    given = ",".join(option) if isinstance(option, list) else option
    return str(given or os.environ.get(name.upper()) or config.getini(name) or "")
