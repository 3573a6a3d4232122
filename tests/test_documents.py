"""Whatever the manual and the README show is run as it stands, and the tasks of three kinds of users pass."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from tests.command import QUICKLY, free_ports, program
from tests.documents import (
    PORT,
    as_it_began,
    blocks,
    commands,
    python,
    run_commands,
    run_script,
    run_tests,
    serving,
    without_installation,
)
from tests.manual import FOLDER

TEXTS = {
    path.relative_to(FOLDER).with_suffix("").as_posix(): path.read_text("utf-8")
    for path in FOLDER.rglob("*.md")
}
TEXTS["README"] = without_installation((Path(__file__).parents[1] / "README.md").read_text("utf-8"))

#: This page shows changes of the source, which a test of its own makes.
OF_THE_SOURCE = "contribute/change-examples"

SNIPPETS = {
    f"{name}: {number}": block
    for name, text in TEXTS.items()
    if name != OF_THE_SOURCE
    for number, block in enumerate(python(text))
}
TESTS = {name: block for name, block in SNIPPETS.items() if "def test_" in block.content}


def test_every_port_in_the_documents_is_the_default_port() -> None:
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
def test_every_documented_command_prints_the_shown_output(name: str, server: str, tmp_path: Path) -> None:
    """All blocks of commands of a page run in one shell, in an empty folder; the README's in each run."""
    for block in commands(TEXTS[name]):
        if not block.file and block.content.startswith(("php ", "node ")):
            program(block.content.split()[0])
    run_commands(TEXTS[name], server, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["README", "tutorial"])
def test_documented_commands_print_the_same_output_in_server_mode(
    name: str, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first tests that a reader writes pass in each mode, unchanged."""
    monkeypatch.setenv("RESELLER_SANDBOX_MODE", server)
    run_commands(TEXTS[name], server, tmp_path)


@pytest.mark.parametrize("name", [name for name in SNIPPETS if name not in TESTS])
def test_every_documented_python_script_prints_the_shown_output(
    name: str, server: str, tmp_path: Path
) -> None:
    run_script(SNIPPETS[name], server, tmp_path)


@pytest.mark.slow
def test_every_documented_python_test_passes(server: str, tmp_path: Path) -> None:
    run_tests(TESTS.values(), server, tmp_path)


ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120
    (tests,) = (block.content for block in blocks(README) if block.file)
    assert len(tests.splitlines()) <= 30


def test_links_in_documents_lead_to_existing_files() -> None:
    links = re.findall(r"\]\(([^)#]+)", README)
    assert len(links) > 10
    assert not [link for link in links if not (ROOT / link).exists()]


EXAMPLES = Path(__file__).parent / "examples"


def carry_out(folder: Path, *words: str) -> str:
    """Run a script in ``folder``, with the commands of this environment. Return its output."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [*words],
        cwd=folder,
        env={**os.environ, **QUICKLY, "PATH": path},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["process", "server"])
def test_the_example_of_a_python_developer_passes(tmp_path: Path, mode: str) -> None:
    words = ("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--reseller-sandbox-mode", mode)
    script = EXAMPLES / "python_developer.py"
    assert "4 passed" in carry_out(tmp_path, sys.executable, "-m", "pytest", *words, str(script))


@pytest.mark.slow
def test_the_example_of_a_platform_engineer_passes(tmp_path: Path) -> None:
    script = EXAMPLES / "platform_engineer.sh"
    assert carry_out(tmp_path, "bash", str(script), str(free_ports())).splitlines()[-1] == "done"


@pytest.mark.slow
def test_the_example_of_a_php_and_node_developer_passes(tmp_path: Path) -> None:
    program("php")
    program("node")
    with Sandbox() as sandbox, sandbox.serve() as server:
        script = EXAMPLES / "php_and_node_developer.sh"
        assert carry_out(tmp_path, "bash", str(script), server.url) == "php done\nnode done\n"
        assert [world.name for world in sandbox.worlds.list().worlds] == ["default"]
