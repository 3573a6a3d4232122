"""The manual's programs that sign, each in its own language, against a real server."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.clients import Api
from tests.command import program
from tests.documents import PORT, blocks
from tests.manual import FOLDER

FOUND = blocks((FOLDER / "how-to" / "sign.md").read_text("utf-8"))
PROGRAMS = {
    source.language: (source, command)
    for source, command in zip(
        [block for block in FOUND if block.file],
        [block for block in FOUND if block.language == "shell"],
        strict=True,
    )
}
COMPILED = ("go", "java")


@pytest.mark.parametrize(
    "language", [pytest.param(name, marks=[pytest.mark.slow] * (name in COMPILED)) for name in PROGRAMS]
)
def test_signing_programs_print_the_output_shown_on_the_page(
    language: str, default_wire: Api, tmp_path: Path
) -> None:
    source, command = PROGRAMS[language]
    port = default_wire.base.rpartition(":")[2]
    (tmp_path / source.file).write_text(re.sub(PORT, port, source.content), "utf-8")
    name, *words = command.content.split()
    done = subprocess.run(
        [program(name), *words],
        cwd=tmp_path,
        env={"GOCACHE": str(tmp_path / "cache"), "GO111MODULE": "off", **os.environ},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert command.fits(done.stdout), done.stdout + done.stderr
