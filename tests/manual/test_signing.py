"""The manual's programs that sign, each in its own language, against a real server."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from tests.documents import PORT, Block, blocks
from tests.manual import FOLDER
from tests.outfit import program

PAGE = (FOLDER / "how-to" / "sign.md").read_text("utf-8")
PROGRAMS = [one for one in blocks(PAGE) if one.file]
COMMANDS = [one for one in blocks(PAGE) if one.language == "shell"]

#: These are compiled each time.
LONG = {"go", "java"}


@pytest.fixture(scope="module")
def port() -> Iterator[str]:
    """The port of a server with the packaged fixture."""
    with Sandbox().serve() as server:
        yield server.url.rpartition(":")[2]


@pytest.mark.parametrize(
    ("source", "command"),
    [
        pytest.param(*both, id=both[0].language, marks=[pytest.mark.slow] * (both[0].language in LONG))
        for both in zip(PROGRAMS, COMMANDS, strict=True)
    ],
)
def test_the_program_prints_what_the_page_shows(
    source: Block, command: Block, port: str, tmp_path: Path
) -> None:
    """The sandbox takes its signature."""
    name, *words = command.content.split()
    (tmp_path / source.file).write_text(re.sub(PORT, port, source.content), "utf-8")
    environment = {"GOCACHE": str(tmp_path / "cache"), "GO111MODULE": "off", **os.environ}
    finished = subprocess.run(
        [program(name), *words],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert command.fits(finished.stdout), finished.stdout + finished.stderr
