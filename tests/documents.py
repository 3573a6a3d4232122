"""Runs what documents show: blocks of commands in one shell, with what they print, and blocks of Python.

A block of ``sh`` is run, and one of ``text`` right below it is what it prints; … stands for anything. A block
below a line that ends with a file's name in backticks and a colon is that file from there on, whatever its
language. Any other block of ``python`` runs by itself. One of ``shell`` is for reading, and is not run.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

import pytest

from tests.command import QUICKLY, started

#: The documents' port, which is a server's default; each test puts another in its place.
PORT = "8053"

_MARK = "--- the next example ---"
_BLOCK = re.compile(
    r"(?:`(?P<file>[\w./-]+\.\w+|Dockerfile)`:\n\n)?^```(?P<language>\w+)\n(?P<content>.*?)^```$"
    r"(?:\n\n```text\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)


class Block(NamedTuple):
    """A fenced block: its language, what is in it, the file that it is, and what it prints, if it says so."""

    language: str
    content: str
    file: str
    output: str

    @property
    def command(self) -> str:
        """What a shell does for it."""
        if self.file:
            begin = f"mkdir -p \"$(dirname {self.file})\"\ncat > {self.file} <<'END OF FILE'\n"
            return f"{begin}{self.content}END OF FILE"
        return self.content

    def fits(self, printed: str) -> bool:
        """Whether ``printed`` is what the document shows, white space apart."""
        pattern = ".*".join(re.escape(" ".join(part.split())) for part in self.output.split("…"))
        return re.fullmatch(pattern, " ".join(printed.split())) is not None


def blocks(text: str) -> list[Block]:
    """Every block of a document, in order."""
    matches = _BLOCK.finditer(text)
    return [
        Block(match["language"], match["content"], match["file"] or "", match["output"] or "")
        for match in matches
    ]


def commands(text: str) -> list[Block]:
    """The blocks that one shell runs, in order: commands and files."""
    every = blocks(text)
    return (
        [block for block in every if block.language == "sh" or block.file]
        if "sh" in {b.language for b in every}
        else []
    )


def without_installation(text: str) -> str:
    """Return the README without its commands that set up, in a clone and in a project."""
    return re.sub(r"(?m)^(?:make |\. \.venv/|python3 -m venv |pip install |cd ).*\n", "", text)


def python(text: str) -> list[Block]:
    return [block for block in blocks(text) if block.language == "python" and not block.file]


def _outside_ci() -> dict[str, str]:
    """Return the environment variables without `CI`, for which pytest prints a longer summary."""
    return {key: value for key, value in os.environ.items() if key != "CI"}


def run_commands(text: str, address: str, folder: Path) -> None:
    """Run a document's blocks of commands in one shell; assert that each prints what stands below it."""
    shown = commands(text)
    script = f"\necho; echo '{_MARK}'\n".join(["", *(block.command for block in shown), ""])
    port = address.rpartition(":")[2]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    finished = subprocess.run(
        ["bash", "-c", script.replace(PORT, port)],
        cwd=folder,
        env={**_outside_ci(), **QUICKLY, "PATH": path, "RESELLER_SANDBOX_URL": address},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    printed = finished.stdout.replace(port, PORT).split(_MARK)[1:]
    wrong = [
        f"{block.command}\n  shows   {block.output}\n  printed {got.strip()}"
        for block, got in zip(shown, printed, strict=False)
        if not block.fits(got)
    ]
    assert not wrong, "\n".join(wrong) + finished.stderr
    assert len(printed) == len(shown) + 1, finished.stderr


def run_script(block: Block, address: str, folder: Path) -> None:
    """Run a block of Python as a script in this process. The text below the block is its output."""
    file = folder / "example.py"
    file.write_text(block.content.replace(PORT, address.rpartition(":")[2]))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as printed:
        patch.setattr(sys, "argv", [str(file)])
        runpy.run_path(str(file), run_name="__main__")
    assert not block.output or block.fits(printed.getvalue()), printed.getvalue()


def run_tests(blocks: Iterable[Block], address: str, folder: Path) -> None:
    """Run blocks with tests under pytest, each in its own module."""
    for number, block in enumerate(blocks):
        file = folder / f"test_example{number}.py"
        file.write_text(block.content.replace(PORT, address.rpartition(":")[2]))
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=folder,
        env={**os.environ, **QUICKLY},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


@contextmanager
def serving() -> Iterator[str]:
    """A server started as the documents start it, on a port that is free; its address."""
    with started("serve", "--port", "0", stderr=subprocess.DEVNULL) as (server, line):
        yield line.split()[-1]
    assert server.returncode == 0


def as_it_began(address: str) -> None:
    """Bring the served default world back to its beginning, and drop every other."""
    _control(address, "POST", "history/reset")
    for world in _control(address, "GET", "worlds")["worlds"]:
        if world["name"] != "default":
            _control(address, "DELETE", f"worlds/{world['name']}")


def _control(address: str, method: str, path: str) -> dict[str, list[dict[str, str]]]:
    with urlopen(
        Request(f"{address}/_sandbox/{path}", method=method, data=b"" if method == "POST" else None)
    ) as answer:
        body: dict[str, list[dict[str, str]]] = json.load(answer)
    return body
