"""What the tools share with the pytest plugin: defaults of the options, and the channel to a running tool.

Tests that ask for the plugin's fixture have worlds of their own, which no address leads to. So a tool has the
plugin sweep and explore each of these tests in their own process, and the plugin reports the results.
Next to nothing is loaded here, because pytest reads this for every test run.
"""

from __future__ import annotations

import json
import os
from typing import Any

#: Whose credentials a program gets, and after how many seconds a run of it is given up.
ACCOUNT, TIMEOUT = "main", 120.0

#: How many seconds late a slow answer comes in a sweep.
SLOW = 30.0

#: How many workers a program has at a time that is explored, and how many runs are made at most.
ACTORS, MAX_RUNS = 2, 200

#: For how many seconds nothing has to come from a program, until those that wait are taken for all.
QUIET = 0.3

#: The same for a function, because the end of its threads can be seen.
QUIET_HERE = 0.1

#: The variable with the file that the plugin writes its reports to, if a tool runs this process.
TOLD = "RESELLER_SANDBOX_TOLD"


def say_to_tool(**words: Any) -> None:
    """Report ``words`` to the tool that runs this process, if any. Lines of several processes stay whole."""
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
