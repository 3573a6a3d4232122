"""Runs the installed command ``reseller-sandbox``: in this process, which is quick, or in another."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from unittest.mock import patch

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


def run(*words: str, env: Mapping[str, str | None] | None = None, stdin: str = "") -> Done:
    """Run the command in this process. ``env`` changes variables, None removes one."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
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
    texts = (stream.buffer.getvalue().decode() for stream in (out, err))
    return Done(code if isinstance(code, int) else int(code is not None), *texts)


def printed(*words: str) -> str:
    """Return what a command prints, which has to succeed."""
    done = run(*words)
    assert done.status == 0, done
    return done.out
