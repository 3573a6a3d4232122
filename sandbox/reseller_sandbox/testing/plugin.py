"""Pytest plugin: a separate world for every test, forked from a world that is seeded once.

pytest loads it when reseller-sandbox is installed. ``@pytest.mark.reseller_sandbox(...)`` gives a function, a
class or a module its own settings, which are those of ``Sandbox``. Other settings come from the environment
and from ``pyproject.toml``, as for the command line. Only pytest is imported until a test uses a world.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from contextlib import ExitStack, suppress
from copy import copy
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from reseller_sandbox.tools.cli_options import (
    CLOCK,
    COVER_MIN,
    COVER_OF,
    COVERAGE,
    EXPLORE,
    FENCE,
    MODE,
    OPTIONS,
    RECORDINGS,
    REPORT,
    STRICT,
    SWEEP,
    flag,
    variable,
    with_defaults,
)
from reseller_sandbox.tools.defaults import ACTORS, MAX_RUNS, report_to_tool

if TYPE_CHECKING:
    from reseller_sandbox import Sandbox
    from reseller_sandbox.testing.run import Sandboxes

#: The ``Sandboxes`` of the test run. Set when the first test uses a world.
_RUN = pytest.StashKey["Sandboxes"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Register the options, and their keys in pytest's configuration file."""
    group = parser.getgroup("reseller-sandbox")
    for name, (about, more) in OPTIONS.items():
        group.addoption(flag(name), dest=name, default=None, help=about, **more)
        parser.addini(name, f"{about}; the same as {flag(name)}", default="")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> None:
    """Add the default to options without a value, so that pytest does not read a path as the value."""
    args[:] = with_defaults(args)
    early_config.known_args_namespace = parser.parse_known_args(args, copy(early_config.option))


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, and the plugins for coverage and sweeps if an option asks for them.

    Also disable the rewriting of assertions in this package. pytest would compile every module again, which
    is a quarter of the waiting time of the first test.
    """
    getattr(config.pluginmanager.rewrite_hook, "_must_rewrite", set()).discard("reseller_sandbox")
    config.addinivalue_line("markers", "reseller_sandbox(**settings): the settings of this test's sandbox")
    config.addinivalue_line(
        "markers",
        f"{EXPLORE}(actors={ACTORS}, max_runs={MAX_RUNS}, schedule='', invariants=(), locked=False): "
        "run this test in every order of the requests of its threads that could matter",
    )
    if hosts := _option(config, FENCE):
        from reseller_sandbox.clients.fence import fenced

        stack = ExitStack()
        config.add_cleanup(stack.close)
        stack.enter_context(fenced(_allowed(hosts, _option(config, MODE)), flag(FENCE)))
    forms, least = _option(config, COVERAGE), _option(config, COVER_MIN)
    if forms or least:
        from reseller_sandbox.testing.coverage import Collector

        collector = Collector(forms, least, _option(config, COVER_OF), config.invocation_params.dir)
        config.pluginmanager.register(collector, COVERAGE)
    if _option(config, SWEEP):
        from reseller_sandbox.testing.rerun import SweepingTests, parse_sweep

        config.pluginmanager.register(SweepingTests(parse_sweep(_options(config)), _RUN), SWEEP)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Register the plugin that explores tests, if a test has the mark or the option is set."""
    known = config.pluginmanager.has_plugin(EXPLORE)
    if not known and (_option(config, EXPLORE) or any(item.get_closest_marker(EXPLORE) for item in items)):
        from reseller_sandbox.testing.rerun import ExploringTests, parse_exploration

        plugin = ExploringTests(parse_exploration(_options(config)), _RUN, bool(_option(config, EXPLORE)))
        config.pluginmanager.register(plugin, EXPLORE)


@pytest.fixture(scope="session")
def reseller_sandboxes(pytestconfig: pytest.Config) -> Iterator[Sandboxes]:
    """Yield the worlds of this run. A fixture of any scope can fork a world, and prepare it for tests."""
    from reseller_sandbox.settings import BadSetting
    from reseller_sandbox.testing.run import Sandboxes, mode_of, read_clock, read_strict

    option, cache = partial(_option, pytestconfig), getattr(pytestconfig, "cache", None)
    folder = option(RECORDINGS) or option(REPORT)
    kept = Path(folder).absolute() if folder else None
    if kept is None and cache:
        with suppress(OSError):  # The checkout can be read-only.
            kept = cache.mkdir("reseller-sandbox")
    try:
        run = Sandboxes(
            mode_of(option(MODE) or "process"),
            pytestconfig.invocation_params.dir,
            read_strict(option(STRICT)),
            kept,
            follows=option(CLOCK) and read_clock(option(CLOCK)),
        )
    except BadSetting as problem:
        pytest.exit(f"reseller-sandbox: {problem}", returncode=pytest.ExitCode.USAGE_ERROR)
    pytestconfig.stash[_RUN] = run
    if (collector := pytestconfig.pluginmanager.get_plugin(COVERAGE)) is not None:
        run.watcher.observe = collector.collect
    run.watcher.begin()
    yield run
    del pytestconfig.stash[_RUN]
    run.end()


@pytest.fixture
def reseller_sandbox(request: pytest.FixtureRequest, reseller_sandboxes: Sandboxes) -> Iterator[Sandbox]:
    """Yield a sandbox with a new world for this test, forked from the seeded world."""
    if not reseller_sandboxes.is_lent:
        report_to_tool(tests=[request.node.nodeid])
    with reseller_sandboxes.world_of(request.node) as world:
        yield world


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Keep the worlds of a test until its reports are complete."""
    if (run := item.config.stash.get(_RUN, None)) is not None:
        run.watcher.begin()
    try:
        return (yield)
    finally:
        if (run := item.config.stash.get(_RUN, None)) is not None:
            run.watcher.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """In strict mode, fail a passed test that leaves advice, or an unapplied fault or action."""
    yield
    run = item.config.stash.get(_RUN, None)
    if run is not None and (lines := run.left_over(item)):
        pytest.fail("\n".join(lines), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the history of a failed test's worlds to its report, and write the page on the test."""
    report = yield
    run = item.config.stash.get(_RUN, None)
    if report.failed and run is not None and not run.is_lent:
        report.sections += run.sections(item)
        if folder := _option(item.config, REPORT):
            from reseller_sandbox.testing.failure_page import write_page

            write_page(item, report, run, Path(folder).absolute())
    return report


def _allowed(hosts: str, mode: str) -> list[str]:
    """Return the hosts in the fence option, and the host of the server in the mode option."""
    allowed = [host.strip() for host in hosts.split(",")]
    for host in allowed:
        if not re.fullmatch(r"[\w.:-]+", host):
            raise pytest.UsageError(f"{flag(FENCE)} must be hosts such as db.example.test, not {host!r}")
    return [*allowed, urlsplit(mode).hostname or "localhost"]


def _options(config: pytest.Config) -> dict[str, str]:
    return {name: _option(config, name) for name in OPTIONS}


def _option(config: pytest.Config, name: str) -> str:
    """Return the value from the option, the environment or pytest's configuration file."""
    option = config.getoption(name)
    value = ",".join(option) if isinstance(option, list) else option
    return str(value or os.environ.get(variable(name), "").strip() or config.getini(name) or "")
