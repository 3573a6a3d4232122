"""The wheel and the archive of the source: what is in them, and that one can be made of the other."""

from __future__ import annotations

import filecmp
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.installed.conftest import ROOT, run

#: What a build adds to the files of the project.
OF_A_WHEEL = {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}
OF_A_SOURCE = {"PKG-INFO", "pyproject.toml", "README.md", ".gitignore"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of the source."""
    folder = tmp_path_factory.mktemp("source")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder), at=ROOT)
    (built,) = folder.glob("*.tar.gz")
    return built


def kept(*folders: str) -> set[str]:
    """The files of the project in these folders."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders]
    found = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip("this is no checkout")
    return {name for name in found.stdout.splitlines() if (ROOT / name).exists()}


def test_a_wheel_holds_the_package_and_its_fixtures_and_nothing_else(wheel: Path) -> None:
    """The templates, the manual, the pins and the marker of types are among them."""
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {name.removeprefix("sandbox/") for name in kept("sandbox")}
    fixtures = {f"reseller_sandbox/{name}" for name in kept("fixtures")}
    (about,) = {name.partition("/")[0] for name in names} - {"reseller_sandbox"}
    assert names == package | fixtures | {f"{about}/{name}" for name in OF_A_WHEEL}
    assert {"reseller_sandbox/py.typed", "reseller_sandbox/deploy/requirements.txt"} <= names


def test_a_source_holds_what_is_needed_to_build_and_to_test(source: Path) -> None:
    """And nothing of what is about the repository."""
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = kept("sandbox", "fixtures", "tests", "Makefile", ".requirements.lock", ".ci")
    assert names == wanted | OF_A_SOURCE


def test_both_are_fit_to_be_published(wheel: Path, source: Path) -> None:
    """Their descriptions can be shown, too."""
    run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(source))


def test_the_wheel_of_the_source_is_the_wheel(
    python: Path, wheel: Path, source: Path, tmp_path: Path
) -> None:
    """Byte for byte, whichever Python makes it: so whatever holds for one holds for the other."""
    run(str(python), "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(tmp_path), str(source))
    (made,) = tmp_path.glob("*.whl")
    assert filecmp.cmp(made, wheel, shallow=False)
