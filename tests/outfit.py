"""What a test needs of the machine: a program, without which it is skipped with the reason, and ports."""

from __future__ import annotations

import os
import shutil
import socket
from contextlib import ExitStack

import pytest

#: What pytest is told in a process of its own: to do without plugins that take long to load.
QUICKLY = {"PYTEST_ADDOPTS": "-p no:schemathesis -p no:hypothesispytest -p no:anyio -p no:time_machine"}


def program(name: str, *others: str) -> str:
    """Return the path of the first of these programs that this machine has.

    A test that finds none is skipped, and fails where everything had to be installed (``TESTS_COMPLETE=1``).
    """
    path = next(filter(None, map(shutil.which, (name, *others))), None)
    if path is None:
        missing = " or ".join((name, *others)) + " is not on this machine"
        if os.environ.get("TESTS_COMPLETE"):
            pytest.fail(f"{missing}, though everything that tests need should be")
        pytest.skip(missing)
    return path


def free_ports(count: int = 1) -> int:
    """Return the first of so many ports in a row that nobody listens on.

    They are none that the machine gives to whoever asks for any, and tests in other processes look elsewhere.
    """
    begin = 15_000 + os.getpid() % 1500 * 5
    for first in range(begin, 32_000, count):
        with ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue
            return first
    raise AssertionError("no free ports")
