"""The README's examples, pasted as they stand, in order, against a server started as it says there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.rendered import served_entries

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
TOUR = (ROOT / "tests" / "tour.py").read_text()
PORT = "8053"  # the README's; each test puts its own in its place
MARK = "--- the next example ---"


class Example(NamedTuple):
    """A block of commands, and what it prints as the block below shows it; … stands for anything."""

    command: str
    output: str

    def fits(self, printed: str) -> bool:
        """Whether ``printed`` is what the README shows, white space apart."""
        pattern = ".*".join(re.escape(" ".join(part.split())) for part in self.output.split("…"))
        return re.fullmatch(pattern, " ".join(printed.split())) is not None


def blocks(language: str) -> list[str]:
    """The README's fenced blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def examples() -> list[Example]:
    """The blocks of commands in order, each with the output that follows it at once, if one does."""
    shown = r"^```sh\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?"
    return [Example(*pair) for pair in re.findall(shown, README, re.DOTALL | re.MULTILINE)]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server started as the README starts it, on a port that is free."""
    command = [sys.executable, "-m", "reseller_sandbox.cli", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout
        first = server.stdout.readline()
        try:
            yield first.split()[-1]
            served_entries(int(first.rpartition(":")[2]))
        finally:
            server.terminate()
        server.stdout.read()
        assert server.wait(10) == 0


def test_every_command_prints_what_the_readme_shows(address: str) -> None:
    """All blocks of commands run in one shell; what each prints is what stands below it."""
    told = examples()
    assert len(told) > 20
    script = f"\necho; echo '{MARK}'\n".join(["", *(one.command for one in told), ""])
    port = address.rpartition(":")[2]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "RESELLER_SANDBOX_URL": address}
    finished = subprocess.run(
        ["bash", "-c", script.replace(PORT, port)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    printed = finished.stdout.replace(port, PORT).split(MARK)[1:]
    wrong = [
        f"{one.command}\n  shows   {one.output}\n  printed {got.strip()}"
        for one, got in zip(told, printed, strict=False)
        if not one.fits(got)
    ]
    assert not wrong, "\n".join(wrong) + finished.stderr


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.splitlines()[0][:40])
def test_every_python_example_runs(block: Any, address: str, tmp_path: Path) -> None:
    """A block with tests passes under pytest; any other runs as a script."""
    file, port = tmp_path / "test_example.py", address.rpartition(":")[2]
    file.write_text(block.replace(PORT, port))
    how = ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if "def test_" in block else []
    finished = subprocess.run(
        [sys.executable, *how, file], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert served_entries(int(port)) > 5 or block != TOUR


def test_the_tour_in_the_readme_is_the_one_in_the_tests() -> None:
    """The script is shown as it is."""
    assert TOUR in blocks("python")


def test_the_picture_of_the_lifecycle_is_drawn_from_its_table() -> None:
    """The diagram in the README is the one that the tables give now."""
    from reseller_sandbox.diagram import mermaid

    assert [mermaid() + "\n"] == blocks("mermaid")


def test_every_assumption_is_in_the_readme() -> None:
    """The table of assumptions names each with its default."""
    from reseller_sandbox.core.assumptions import Assumptions

    for name in Assumptions().values():
        assert f"`{name}`" in README, name


def test_the_readme_states_how_many_errors_are_documented() -> None:
    """As many pairs of an error and an operation as the contract's data has."""
    from tests.contract.test_v2_errors import DOCUMENTED

    assert f"{len(DOCUMENTED)} pairs of an error and an operation are documented" in README


def test_the_readme_states_how_the_errors_are_raised() -> None:
    """Which of the pairs have their real reason, and what is answered before any operation is reached."""
    from reseller_sandbox.core.refusals import BODY_TOO_LARGE, MALFORMED_BODY, UNSUPPORTED_MEDIA_TYPE
    from reseller_sandbox.v2.errors import TRANSPORT
    from tests.contract.v2_pairs import PAIRS, fail, unreadable

    arranged = [pair.arrange for pair in PAIRS.values()]
    injected, permitted = arranged.count(fail), arranged.count(unreadable)
    told = " ".join(README.split())
    real = len(PAIRS) - injected
    assert f"{real} of them for their real reason, the {injected} of `System Error`" in told
    assert permitted == 1
    assert f"one of the {real} is raised in a world whose `lifecycle` does not permit it" in told
    assert {MALFORMED_BODY, BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE} <= set(TRANSPORT)
