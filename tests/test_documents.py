"""Whatever the manual and the README show is run as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents import PORT, Block, as_it_began, commands, python, run_commands, run_python, serving
from tests.manual import FOLDER
from tests.outfit import program

TEXTS = {
    path.relative_to(FOLDER).with_suffix("").as_posix(): path.read_text("utf-8")
    for path in FOLDER.rglob("*.md")
}
TEXTS["README"] = (Path(__file__).parents[1] / "README.md").read_text("utf-8")

#: This page shows changes of the source, which a test of its own makes.
OF_THE_SOURCE = "contribute/change-examples"

SNIPPETS = {
    f"{name}: {number}": block
    for name, text in TEXTS.items()
    if name != OF_THE_SOURCE
    for number, block in enumerate(python(text))
}


def test_documents_name_the_default_port() -> None:
    named = re.findall(r"(?:127\.0\.0\.1|localhost):(\d+)", "\n".join(TEXTS.values()))
    assert len(named) > 20
    assert set(named) == {PORT}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.fixture
def server(address: str) -> str:
    as_it_began(address)
    return address


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name != "README"))
        for name, text in TEXTS.items()
        if commands(text)
    ],
)
def test_every_command_prints_the_shown_output(name: str, server: str, tmp_path: Path) -> None:
    """All blocks of commands of a page run in one shell, in an empty folder; the README's in each run."""
    for one in commands(TEXTS[name]):
        if not one.file and one.content.startswith(("php ", "node ")):
            program(one.content.split()[0])
    run_commands(TEXTS[name], server, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README", "tutorial"])
def test_commands_of_a_page_print_the_same_with_worlds_in_a_server(
    name: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first tests that a reader writes pass in each mode, unchanged."""
    monkeypatch.setenv("RESELLER_SANDBOX_MODE", server)
    run_commands(TEXTS[name], server, tmp_path)


@pytest.mark.parametrize("block", SNIPPETS.values(), ids=SNIPPETS)
def test_every_python_example_runs(block: Block, server: str, tmp_path: Path) -> None:
    """A block with tests passes under pytest; any other runs as a script, and prints what the page shows."""
    run_python(block, server, tmp_path)
