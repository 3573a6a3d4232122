"""Runs the command ``reseller-sandbox``, in this process or in another; finds programs and ports."""

from __future__ import annotations

import io
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

NAME = "reseller-sandbox"

#: The command as a program of this environment.
PROGRAM = str(Path(sys.executable).with_name(NAME))


@dataclass(frozen=True)
class Done:
    """What a command printed, and the status that it ended with."""

    status: int
    out: str
    err: str


@cache
def _entry() -> Any:
    (entry,) = entry_points(group="console_scripts", name=NAME)
    return entry.load()


def run(
    *words: str, env: Mapping[str, str | None] | None = None, stdin: str = "", codec: str = "utf-8"
) -> Done:
    """Run the command in this process. ``env`` changes variables, None removes one.

    ``codec`` is the encoding of the output.
    """
    out, err = (io.TextIOWrapper(io.BytesIO(), codec, write_through=True) for _ in range(2))
    changed = {**os.environ, **(env or {})}
    environment = {name: value for name, value in changed.items() if value is not None}
    with (
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(sys, "argv", [NAME, *words]),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()))),
        patch.dict(os.environ, environment, clear=True),
    ):
        try:
            _entry()()
        except SystemExit as ended:
            code = ended.code
    texts = (stream.buffer.getvalue().decode(codec) for stream in (out, err))
    return Done(code if isinstance(code, int) else int(code is not None), *texts)


def printed(*words: str) -> str:
    """Return what a command prints, which has to succeed."""
    done = run(*words)
    assert done.status == 0, done
    return done.out


@contextmanager
def started(
    *words: object, before: tuple[str, ...] = (), end: int = signal.SIGTERM, **options: Any
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command in a separate process. Yield the process, and the first line that it prints.

    ``before`` are words before the command, and ``options`` are those of ``Popen``. At the end, the process
    gets the signal ``end``, and has to end.
    """
    command = [*before, sys.executable, "-m", "reseller_sandbox", *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **{**pipes, **options}) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()
        try:
            yield process, line
        finally:
            process.send_signal(end)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


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
