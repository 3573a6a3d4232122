"""Defaults of the tools' options. Reports from the pytest plugin to the tool that has started pytest.

A test with the plugin's fixture has its own world, which has no address. So the tools let the plugin sweep
and explore these tests in the process of pytest, and the plugin reports the results. This module imports
little, because pytest imports it in every run.
"""

from __future__ import annotations

import json
import os

#: Account whose credentials a program gets, and timeout of a run in seconds.
ACCOUNT, TIMEOUT = "main", 120.0

#: Delay of a slow answer in a sweep, in seconds.
SLOW = 30.0

#: Maximum age of a stale answer in a sweep, in seconds of the world's clock.
STALE = 60.0

#: Number of concurrent workers of an explored program, and maximum number of runs.
ACTORS, MAX_RUNS = 2, 200

#: Explore: if no new request arrives for this many seconds, a waiting request is released.
QUIET = 0.3

#: ``QUIET`` for a Python function. It is shorter, because explore sees when the function's threads end.
QUIET_HERE = 0.1

#: Environment variable with the file to which the plugin writes its reports. A tool sets it for pytest.
REPORTS_FILE = "RESELLER_SANDBOX_TOOL_REPORTS"


def report_to_tool(**words: object) -> None:
    """Report ``words`` to the tool (sweep or explore) that has started this process, if any.

    Each report is one line, written at once, so that lines of several processes do not mix.
    """
    if not (name := os.environ.get(REPORTS_FILE)):
        return
    file = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, json.dumps(words).encode() + b"\n")
    finally:
        os.close(file)


def is_run_by_tool() -> bool:
    """Whether a tool (sweep or explore) has started this process."""
    return REPORTS_FILE in os.environ
