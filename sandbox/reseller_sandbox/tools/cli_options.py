"""Options of the pytest plugin, which are also environment variables and ini keys.

The tools set the variables for the pytest processes that they start. This module imports little, because
pytest imports it in every run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reseller_sandbox.tools.defaults import ACTORS, MAX_RUNS, QUIET_HERE, SLOW, STALE

#: Maximum number of parts into which the runs of a sweep or an exploration are divided.
MOST_PARTS = 9999

#: The pytest fixture of the sandbox. Only tests that use this fixture can be swept and explored.
FIXTURE = "reseller_sandbox"

MODE = "reseller_sandbox_mode"
STRICT = "reseller_sandbox_strict"
FENCE = "reseller_sandbox_fence"
CLOCK = "reseller_sandbox_clock"
COVERAGE = "reseller_sandbox_coverage"
COVER_MIN = "reseller_sandbox_cover_min"
COVER_OF = "reseller_sandbox_cover_of"
SWEEP = "reseller_sandbox_sweep"
SWEEP_ONLY = "reseller_sandbox_sweep_only"
SWEEP_DEPTH = "reseller_sandbox_sweep_depth"
SWEEP_SLOW = "reseller_sandbox_sweep_slow"
SWEEP_STALE = "reseller_sandbox_sweep_stale"
PART = "reseller_sandbox_part"
SWEEP_STOP = "reseller_sandbox_sweep_stop_at_first"
SWEEP_STRICT = "reseller_sandbox_sweep_strict"
EXPLORE = "reseller_sandbox_explore"
EXPLORE_RUNS = "reseller_sandbox_explore_max_runs"
EXPLORE_QUIET = "reseller_sandbox_explore_quiet"
EXPLORE_SCHEDULE = "reseller_sandbox_explore_schedule"
EXPLORE_LOCKED = "reseller_sandbox_explore_locked"
INVARIANT = "reseller_sandbox_invariant"
RECORDINGS = "reseller_sandbox_recordings"
REPORT = "reseller_sandbox_report"

#: For each option: its help text, and the keyword arguments for pytest's ``addoption``.
OPTIONS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    MODE: (
        "place of the worlds of reseller-sandbox: process (the default), server (a server of this run), "
        "or the URL of a running server",
        {"metavar": "MODE"},
    ),
    STRICT: (
        "leftovers that fail a test: faults and scheduled actions that were never applied, advice",
        {"metavar": "NAMES"},
    ),
    CLOCK: (
        "clock of the worlds: follow (the time of the tests, also if a test freezes it); default: the clock "
        "of the fixture",
        {"metavar": "CLOCK"},
    ),
    FENCE: (
        "refuse connections of the tests to other machines; the value names hosts that are allowed, such as "
        "db.example.test,10.0.0.7 (default: only this machine)",
        {"metavar": "HOSTS", "nargs": "?", "const": "localhost"},
    ),
    COVERAGE: (
        "report the coverage of the contract by the tests: term (the default), html, json, or several of "
        "these, with a file as in html:coverage.html",
        {"metavar": "FORM", "nargs": "?", "const": "term", "action": "append"},
    ),
    COVER_MIN: (
        "minimum coverage in percent, such as 90 (of the operations that the tests use) or "
        "used=90,used-errors=40,all=10,stages=5; the run fails below the minimum",
        {"metavar": "PERCENT"},
    ),
    COVER_OF: ("pattern of the operations in the coverage report, such as *renew*", {"metavar": "PATTERN"}),
    SWEEP: (
        "run each passing test again with each kind of fault on each of its requests, and report the "
        "results: all (the default), or some of lost-request, lost-answer, slow-answer, twice, error, "
        "server-error, server-error-after, outage, garbage, rate-limited, stale-read, prices, assumptions, "
        "external-changes, time; -twice excludes a kind",
        {"metavar": "KINDS", "nargs": "?", "const": "all"},
    ),
    SWEEP_ONLY: ("pattern of the operations to sweep, such as *renew*", {"metavar": "PATTERN"}),
    SWEEP_DEPTH: (
        "1 for one fault in each run (the default), 2 to try a second fault on each request that the program "
        "sends because of a first fault",
        {"metavar": "DEPTH"},
    ),
    SWEEP_SLOW: (
        f"delay of a slow response in a sweep, in seconds (default: {SLOW:g})",
        {"metavar": "SECONDS"},
    ),
    SWEEP_STALE: (
        f"maximum age of a stale response in a sweep, in seconds of the world's clock (default: {STALE:g})",
        {"metavar": "SECONDS"},
    ),
    PART: (
        "part of the runs of a sweep or an exploration to make, such as 1/2, to share them among processes",
        {"metavar": "PART"},
    ),
    SWEEP_STOP: ("stop after the first finding", {"action": "store_true"}),
    SWEEP_STRICT: (
        "fail a test also if a sweep has consequences that no client can prevent",
        {"action": "store_true"},
    ),
    EXPLORE: (
        "run each passing test in every relevant order of the requests of its threads; the value is the "
        f"number of concurrent threads (default: {ACTORS})",
        {"metavar": "ACTORS", "nargs": "?", "const": str(ACTORS)},
    ),
    EXPLORE_RUNS: (f"maximum number of runs of an explored test (default: {MAX_RUNS})", {"metavar": "RUNS"}),
    EXPLORE_QUIET: (
        f"seconds without a new request after which a waiting request is released (default: {QUIET_HERE})",
        {"metavar": "SECONDS"},
    ),
    EXPLORE_SCHEDULE: ("only schedule to run, from a report", {"metavar": "ACTORS"}),
    EXPLORE_LOCKED: (
        "expect that a lock lets one worker act at a time; otherwise, such a test counts as not explored",
        {"action": "store_true"},
    ),
    INVARIANT: (
        "function that checks each run of a sweep or an exploration: it gets the Sandbox, and returns a "
        "message for a violation; can be repeated",
        {"metavar": "MODULE:FUNCTION", "action": "append"},
    ),
    RECORDINGS: ("folder for the recordings of findings (default: in pytest's cache)", {"metavar": "FOLDER"}),
    REPORT: (
        "folder for a page on each failed test (requests, refusals, money, timeline) and for its recordings",
        {"metavar": "FOLDER"},
    ),
}


def flag(name: str) -> str:
    """Return the command line flag of an option, such as ``--reseller-sandbox-sweep``."""
    return f"--{name.replace('_', '-')}"


def variable(name: str) -> str:
    """Return the environment variable of an option, such as ``RESELLER_SANDBOX_SWEEP``."""
    return name.upper()


def variables(said: Mapping[str, object]) -> dict[str, str]:
    """Return the environment variables that set these options. Options without a value are left out."""
    return {variable(name): str(value) for name, value in said.items() if value not in (None, "", False)}


def part_of(word: str) -> tuple[int, int]:
    """Parse a part such as ``1/2`` into its number and the count of parts. Raise ValueError."""
    number, mark, parts = word.partition("/")
    if mark and number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts) <= MOST_PARTS:
        return int(number), int(parts)
    raise ValueError(f"a part must be N/PARTS with N from 1 to PARTS, such as 1/2, not {word[:80]!r}")


def part_of_job(part: tuple[int, int], job: int, jobs: int) -> str:
    """Divide ``part`` among ``jobs`` processes. Return the part of process ``job``, such as ``3/4``.

    Every process of a part takes runs that belong to this part, for any number of jobs.
    """
    number, parts = part
    return f"{number + (job - 1) * parts}/{parts * jobs}"


def with_defaults(words: Sequence[str]) -> list[str]:
    """Add ``=DEFAULT`` to each option in ``words`` that is given without its optional value.

    Otherwise, such an option would take the path after it as its value.
    """
    bare = {
        flag(name): f"{flag(name)}={more['const']}" for name, (_, more) in OPTIONS.items() if "const" in more
    }
    return [bare.get(word, word) for word in words]
