"""The files that ``reseller-sandbox deploy`` prints, in each of their forms."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import chdir
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.command import run

SHA = "0" * 64

#: The name of the wheel of this version.
WHEEL = f"reseller_sandbox-{version('reseller-sandbox')}-py3-none-any.whl"
IMAGE = ("--image", "registry.example/reseller-sandbox:1")

#: The words for each file in each of its forms.
FORMS: dict[str, tuple[str, ...]] = {
    "dockerfile": ("dockerfile",),
    "dockerfile, wheel below": ("dockerfile", "--wheel", f"dist/{WHEEL}"),
    "dockerfile, wheel by address": (
        *("dockerfile", "--wheel", f"https://files.example/{WHEEL}#sha256={SHA}"),
        *("--base", "python:3.14-slim"),
    ),
    "compose": ("compose",),
    "github-actions": ("github-actions",),
    "github-actions, image": ("github-actions", *IMAGE),
    "github-actions, own commands": (
        *("github-actions", "--install", "make\nmake install"),
        *("--test", 'make "a: b"'),
    ),
    "gitlab-ci": ("gitlab-ci",),
    "gitlab-ci, image": ("gitlab-ci", *IMAGE),
    "kubernetes": ("kubernetes", *IMAGE),
}


def deploy(*words: str, at: Path, status: int = 0) -> str:
    """Run the command in a folder. Return its output, or its error output if it fails."""
    with chdir(at):
        done = run("deploy", *words)
    assert done.status == status, done
    return done.err if status else done.out


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel in a folder below."""
    made = tmp_path_factory.mktemp("deploy")
    (made / "dist").mkdir()
    (made / "dist" / WHEEL).write_bytes(b"not looked into")
    return made


@pytest.fixture(scope="session")
def printed(folder: Path) -> Callable[[str], str]:
    """Prints one of ``FORMS``."""
    return cache(lambda form: deploy(*FORMS[form], at=folder))
