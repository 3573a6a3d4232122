"""Options of the pytest plugin, which are also environment variables and ini keys.

This module imports little, because pytest reads it for every test run, and the tools use the variable names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from reseller_sandbox.tools.defaults import ACTORS, MAX_RUNS, QUIET_HERE, SLOW

Number = TypeVar("Number", int, float)

#: The fixture of the tests that can be swept and explored.
FIXTURE = "reseller_sandbox"

MODE = "reseller_sandbox_mode"
STRICT = "reseller_sandbox_strict"
COVERAGE = "reseller_sandbox_coverage"
COVER_MIN = "reseller_sandbox_cover_min"
COVER_OF = "reseller_sandbox_cover_of"
SWEEP = "reseller_sandbox_sweep"
SWEEP_ONLY = "reseller_sandbox_sweep_only"
SWEEP_SLOW = "reseller_sandbox_sweep_slow"
SWEEP_PART = "reseller_sandbox_sweep_part"
SWEEP_STOP = "reseller_sandbox_sweep_stop_at_first"
EXPLORE = "reseller_sandbox_explore"
EXPLORE_RUNS = "reseller_sandbox_explore_max_runs"
EXPLORE_QUIET = "reseller_sandbox_explore_quiet"
EXPLORE_SCHEDULE = "reseller_sandbox_explore_schedule"
INVARIANT = "reseller_sandbox_invariant"
RECORDINGS = "reseller_sandbox_recordings"

#: By name: the help text of the option, and its arguments for pytest.
OPTIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    MODE: (
        "where the worlds of reseller-sandbox live: process (the default), server (one of this run), "
        "or the address of one that runs",
        {"metavar": "MODE"},
    ),
    STRICT: (
        "leftovers that fail a test: faults and scheduled actions that were never applied, advice",
        {"metavar": "NAMES"},
    ),
    COVERAGE: (
        "report how much of the contract the tests have exercised: term (the default), html, json, or "
        "several of these, with a file as in html:coverage.html",
        {"metavar": "FORM", "nargs": "?", "const": "term", "action": "append"},
    ),
    COVER_MIN: (
        "fail the run when less of the contract than so many percent is exercised, in all or, as in "
        "operations=90,errors=40, in an area",
        {"metavar": "PERCENT"},
    ),
    COVER_OF: ("a pattern of the operations that coverage is about, such as v3.*", {"metavar": "PATTERN"}),
    SWEEP: (
        "run each test that passes again for each of its requests and each thing that can go wrong with it, "
        "and report the results: all (the default), or some of lost-request, lost-answer, slow-answer, "
        "twice, error, garbage, rate-limited, assumptions, external-changes",
        {"metavar": "KINDS", "nargs": "?", "const": "all"},
    ),
    SWEEP_ONLY: ("a pattern of the operations that are swept, such as v3.renew*", {"metavar": "PATTERN"}),
    SWEEP_SLOW: (f"how late a slow answer comes in a sweep: {SLOW:g} seconds", {"metavar": "SECONDS"}),
    SWEEP_PART: (
        "make one part of the runs of a sweep, such as 1/2, where several processes share them",
        {"metavar": "PART"},
    ),
    SWEEP_STOP: ("stop after the first run that is silently wrong", {"action": "store_true"}),
    EXPLORE: (
        "run each test that passes in every order of the requests of its threads that could matter, so many "
        f"of them at a time ({ACTORS})",
        {"metavar": "ACTORS", "nargs": "?", "const": str(ACTORS)},
    ),
    EXPLORE_RUNS: (f"how often a test that is explored is run at most: {MAX_RUNS}", {"metavar": "RUNS"}),
    EXPLORE_QUIET: (
        "how long nothing comes from a test that is explored before those that wait are taken for all: "
        f"{QUIET_HERE}",
        {"metavar": "SECONDS"},
    ),
    EXPLORE_SCHEDULE: ("the one order in which tests are run that are explored", {"metavar": "ACTORS"}),
    INVARIANT: (
        "what holds after each run of a sweep and in each order that is explored: it gets the Sandbox, and "
        "returns words if not; may come often",
        {"metavar": "MODULE:FUNCTION", "action": "append"},
    ),
    RECORDINGS: (
        "the folder where the files are left that replay what was found; in pytest's cache, unless given",
        {"metavar": "FOLDER"},
    ),
}


def flag(name: str) -> str:
    """Return the command line flag of an option."""
    return f"--{name.replace('_', '-')}"


def variable(name: str) -> str:
    """Return the environment variable of an option."""
    return name.upper()


def variables(said: Mapping[str, object]) -> dict[str, str]:
    """Return the environment variables for these options, without empty values."""
    return {variable(name): str(value) for name, value in said.items() if value not in (None, "", False)}


def before_a_path(name: str) -> str:
    """Return the hint to write an option with its default value before a path."""
    return f"; before a path write {flag(name)}={OPTIONS[name][1]['const']}"


def above_0(
    said: Mapping[str, str], name: str, kind: Callable[[str], Number], what: str = "a number"
) -> Number:
    """Return the number given for an option.

    Raise ValueError unless it is finite and greater than 0.
    """
    try:
        number = kind(said[name])
    except ValueError:
        number = kind("0")
    if 0 < number < float("inf"):
        return number
    path = before_a_path(name) if "const" in OPTIONS[name][1] else ""
    raise ValueError(f"{flag(name)} must be {what} above 0; it is {said[name][:80]!r}{path}")
