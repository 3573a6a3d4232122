"""The files that ``reseller-sandbox deploy`` prints, each with what it may be asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import chdir
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest
from click.testing import CliRunner

SHA = "0" * 64

#: The name of the wheel of this version.
WHEEL = f"reseller_sandbox-{version('reseller-sandbox')}-py3-none-any.whl"

#: Each file in each of its forms, by the words that ask for it.
FORMS: dict[str, tuple[str, ...]] = {
    "dockerfile": ("dockerfile",),
    "dockerfile, wheel below": ("dockerfile", "--wheel", f"dist/{WHEEL}"),
    "dockerfile, wheel by address": (
        *("dockerfile", "--wheel", f"https://files.example/{WHEEL}#sha256={SHA}"),
        *("--base", "python:3.14-slim"),
    ),
    "compose": ("compose",),
    "github-actions": ("github-actions",),
    "github-actions, image": ("github-actions", "--image", "registry.example/reseller-sandbox:1"),
    "github-actions, own commands": (
        *("github-actions", "--install", "make\nmake install"),
        *("--test", 'make "a: b"'),
    ),
    "gitlab-ci": ("gitlab-ci",),
    "gitlab-ci, image": ("gitlab-ci", "--image", "registry.example/reseller-sandbox:1"),
    "kubernetes": ("kubernetes", "--image", "registry.example/reseller-sandbox:1"),
}

#: What the tools that look at the files want them to be named.
NAMES = {
    "dockerfile": "Dockerfile",
    "compose": "compose.yaml",
    "github-actions": ".github/workflows/tests.yaml",
    "gitlab-ci": ".gitlab-ci.yml",
    "kubernetes": "kubernetes.yaml",
}


def deploy(*words: str, at: Path, status: int = 0) -> str:
    """Run the command in a folder; return its output, or its error output if it fails."""
    [entry] = entry_points(group="console_scripts", name="reseller-sandbox")
    with chdir(at):
        done = CliRunner().invoke(entry.load(), ["deploy", *words])
    assert done.exit_code == status, done.output
    return done.stderr if status else done.stdout


def tool(*command: str, at: Path) -> None:
    """Run a tool of this environment; what it complains of fails the test."""
    program = Path(sys.executable).with_name(command[0])
    done = subprocess.run(
        [program, *command[1:]],
        cwd=at,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with something for a wheel in a folder below."""
    made = tmp_path_factory.mktemp("deploy")
    (made / "dist").mkdir()
    (made / "dist" / WHEEL).write_bytes(b"not looked into")
    return made


@pytest.fixture(scope="session")
def printed(folder: Path) -> Callable[[str], str]:
    """Prints one of ``FORMS``."""
    found: dict[str, str] = {}

    def text(form: str) -> str:
        if form not in found:
            found[form] = deploy(*FORMS[form], at=folder)
        return found[form]

    return text
