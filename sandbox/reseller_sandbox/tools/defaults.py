"""Option defaults and the report channel of the tools and the pytest plugin.

Tests that use the plugin's fixture have their own worlds, which no address leads to. So the tools let the
plugin sweep and explore these tests in their own process, and the plugin reports the results. This module
imports little, because pytest reads it for every test run.
"""

from __future__ import annotations

import json
import os
from typing import Any

#: The account whose credentials a program gets, and the timeout of a run in seconds.
ACCOUNT, TIMEOUT = "main", 120.0

#: The delay of a slow answer in a sweep, in seconds.
SLOW = 30.0

#: The number of concurrent workers of an explored program, and the largest number of runs.
ACTORS, MAX_RUNS = 2, 200

#: Seconds without a new request after which the waiting requests count as all.
QUIET = 0.3

#: The same for a function. It is shorter because the ends of its threads can be observed.
QUIET_HERE = 0.1

#: The variable with the file that the plugin writes its reports to, if a tool runs this process.
TOLD = "RESELLER_SANDBOX_TOLD"


def say_to_tool(**words: Any) -> None:
    """Report ``words`` to the tool that runs this process, if any.

    Lines of several processes do not mix.
    """
    if not (name := os.environ.get(TOLD)):
        return
    file = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, json.dumps(words).encode() + b"\n")
    finally:
        os.close(file)


def is_heard() -> bool:
    """Whether a tool runs this process."""
    return TOLD in os.environ
