"""What is said of settings elsewhere follows their declaration: the help, and refusals."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import reseller_sandbox
from reseller_sandbox.cli import main
from reseller_sandbox.core.docstrings import docstring
from reseller_sandbox.core.signatures import declared
from reseller_sandbox.powers.catalogue import POWERS
from reseller_sandbox.powers.listing import powers_told
from reseller_sandbox.settings import ServerSettings, help_of
from tests.settings.doors import as_option, as_variable

SETTINGS = declared(ServerSettings)
SAID_IN = ("core", "fixture", "worlds", "web", "v3", "v2", "control", "server")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


@pytest.mark.parametrize("one", SETTINGS, ids=lambda one: one.name)
def test_the_help_of_serve_has_each(one: Any) -> None:
    """With its line, its variable and its default."""
    printed = "".join(CliRunner().invoke(main, ["serve", "--help"], terminal_width=200).output.split())
    shown = "" if one.default in (None, (), False) else f";default:{one.default}"
    line = f"{help_of(ServerSettings)[one.name]}[envvar:{as_variable(one.name)}{shown}"
    assert f"{as_option(one.name)}" in printed
    assert line.replace(" ", "") in printed


def test_an_option_that_is_named_elsewhere_is_there() -> None:
    """Refusals and assumptions tell options that would help; each is one of ``serve``."""
    package = Path(reseller_sandbox.__file__).parent
    named = {
        option
        for part in SAID_IN
        for file in (package / part).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for option in OPTION.findall(node.value)
    }
    assert len(named) > 8
    assert named <= {as_option(one.name) for one in SETTINGS}


def test_the_usual_port_is_told_once() -> None:
    """Whatever else names it in the package follows from the setting."""
    files = Path(reseller_sandbox.__file__).parent.rglob("*.py")
    port = str(ServerSettings.port)
    assert [file.name for file in files if port in file.read_text("utf-8")] == ["settings.py"]


HEAVY = ("flask", "marshmallow", "uvicorn", "yaml", "rpds", "click")


@pytest.mark.parametrize(
    ("code", "may"),
    [
        ("import reseller_sandbox.testing.plugin", set()),
        ("import reseller_sandbox.cli", {"click"}),
        ("import reseller_sandbox.settings", {"rpds"}),
    ],
)
def test_what_needs_no_sandbox_loads_little(code: str, may: set[str]) -> None:
    """The plugin where no test wants a sandbox, the command where only its help is asked for."""
    script = f"import sys; {code}; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert set(ast.literal_eval(done.stdout)) <= may


def listed(*words: str) -> str:
    """Return the help of a list of commands, which has loaded nothing but click to print it."""
    script = (
        "import sys; from reseller_sandbox.cli import main\n"
        f"try: main({[*words, '--help']})\nfinally: print(([name for name in {HEAVY} if name in sys.modules],"
        " [name for name in sys.modules if name.startswith('reseller_sandbox.core.')]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    *lines, loaded = done.stdout.splitlines()
    heavy, core = ast.literal_eval(loaded)
    assert heavy == ["click"]
    assert set(core) <= {f"reseller_sandbox.core.{name}" for name in ("docstrings", "dataclass", "texts")}
    return "\n".join(lines)


def lists(page: str, name: str, words: str) -> bool:
    """Whether a help lists a command with the beginning of these words."""
    return bool(re.search(rf"^  {name} +{re.escape(words[:12])}", page, re.MULTILINE))


def test_the_list_of_commands_loads_no_power() -> None:
    """It says of each power what the power says of itself, in one line."""
    page = listed()
    assert {name: told.docstring for name, told in powers_told().items()} == {
        name: docstring(power) for name, power in POWERS.items()
    }
    assert all(lists(page, name, docstring(power)) for name, power in POWERS.items())


def test_the_list_of_the_commands_of_a_power_loads_no_power() -> None:
    """It says of each operation what its docstring says, in one line; its command is loaded when it runs."""
    for name, told in powers_told().items():
        assert told.load() is POWERS[name]
        assert told.operations == {one.name: docstring(one.body) for one in POWERS[name].operations()}
    page = listed("clock")
    assert all(lists(page, one.name, one.description) for one in POWERS["clock"].operations())


def test_the_help_is_there_without_docstrings() -> None:
    """``python -OO`` takes them away."""
    command = ["-m", "reseller_sandbox.cli", "serve", "--help"]
    whole, bare = (
        subprocess.run([sys.executable, *flags, *command], capture_output=True, check=True).stdout
        for flags in ((), ("-OO",))
    )
    assert whole == bare
