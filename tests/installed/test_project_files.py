"""The archives, the bounds of the dependencies, and the manual as a site."""

from __future__ import annotations

import filecmp
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.installed.conftest import INSTALL, ROOT, locked, output_of

#: Files that a build adds to those of the project.
OF_A_WHEEL = {"METADATA", "WHEEL", "RECORD", "entry_points.txt"}
OF_A_SOURCE = {"PKG-INFO", "pyproject.toml", "README.md", ".gitignore"}

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = ("httpx", "requests", "freezegun", "tls")

#: Tests that use most of the dependencies: the server, routing, schemas.
TESTS = ("tests/server/test_requests.py", "tests/server/test_refusals.py", "tests/web/test_app.py")

#: References from which a page loads files of other machines, rather than links to follow.
LOADED = re.compile(
    r"<(?:script|img|iframe|source)[^>]*src=\"[a-z]*:?//|<link[^>]*href=\"[a-z]*:?//|url\([\"']?[a-z]*:?//"
)


def kept(*folders: str) -> set[str]:
    """Return the files of the project in these folders."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders]
    done = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("this is no checkout")
    return {name for name in done.stdout.splitlines() if (ROOT / name).exists()}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    output_of(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, at=ROOT)
    (built,) = folder.glob("*.tar.gz")
    return built


def test_the_archives_contain_the_project_files_and_can_be_published(wheel: Path, source: Path) -> None:
    """The wheel has the package and the fixtures, the source all that builds and tests need."""
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {name.removeprefix("sandbox/") for name in kept("sandbox/reseller_sandbox")}
    fixtures = {f"reseller_sandbox/{name}" for name in kept("fixtures")}
    (about,) = {name.partition("/")[0] for name in names} - {"reseller_sandbox"}
    assert names == package | fixtures | {f"{about}/{name}" for name in OF_A_WHEEL}
    assert {"reseller_sandbox/py.typed", "reseller_sandbox/deploy/requirements.txt"} <= names
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = kept("sandbox", "fixtures", "tests", "Makefile", ".requirements.lock", ".ci")
    assert names == wanted | OF_A_SOURCE
    output_of(sys.executable, "-m", "twine", "check", "--strict", wheel, source)


def test_the_source_archive_builds_the_same_wheel_byte_for_byte(
    python: Path, wheel: Path, source: Path, tmp_path: Path
) -> None:
    output_of(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", tmp_path, source)
    (made,) = tmp_path.glob("*.whl")
    assert filecmp.cmp(made, wheel, shallow=False)


def oldest() -> str:
    """Return a pin for each lower bound."""
    extras = [row for extra in EXTRAS for row in PROJECT["optional-dependencies"][extra]]
    rows = [*PROJECT["dependencies"], *extras]
    return "\n".join(re.sub(r"^([\w.-]+)>=([\w.]+).*$", r"\1==\2", row) for row in rows)


def versions(pins: str) -> dict[str, Version]:
    rows = (row.split("==") for row in pins.splitlines() if "==" in row)
    return {canonicalize_name(name): Version(number) for name, number in rows}


@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_the_wheel_works_with_the_oldest_and_newest_dependencies(
    which: str, wheel: Path, tmp_path: Path
) -> None:
    index = [sys.executable, "-m", "pip", "index", "versions", "--timeout", "10", "--retries", "1", "idna"]
    if subprocess.run(index, capture_output=True, check=False).returncode:
        pytest.skip("no registry of packages can be reached")
    python = tmp_path / "environment" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    output_of(sys.executable, "-m", "venv", str(tmp_path / "environment"))
    pins = tmp_path / "pins.txt"
    tools = [row for row in locked() if row.partition("==")[0].lower() in {"pytest", "hypothesis"}]
    pins.write_text("\n".join([*tools, *([oldest()] if which == "oldest" else [])]))
    used = ("pytest", "pytest-timeout", "hypothesis", "jsonschema-rs", "time-machine", "trustme", "PyYAML")
    output_of(python, *INSTALL, "-c", pins, f"{wheel}[{','.join(EXTRAS)}]", *used)
    if which == "oldest":
        assert versions(oldest()).items() <= versions(output_of(python, "-m", "pip", "freeze")).items()
    options = ("-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-x")
    printed = output_of(python, "-m", "pytest", *options, *TESTS, at=ROOT)
    assert re.search(r"\d+ passed", printed), printed


def test_the_site_has_every_page_and_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    """Built by the commands of ``make site``, without a warning."""
    environment, pages, site = tmp_path / "venv", tmp_path / "pages", tmp_path / "site"
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (recipe,) = re.findall(r"^.venv/site:(.*?)\n\n", makefile, re.DOTALL | re.MULTILINE)
    (options,) = re.findall(r"sphinx-build (.*?) \.venv/pages", makefile)
    pins = re.findall(r"[\w-]+==[\w.]+", recipe)
    assert len(pins) == 3
    output_of(sys.executable, "-m", "venv", str(environment))
    output_of(environment / "bin" / "python", *INSTALL, *pins)
    output_of(sys.executable, "-m", "reseller_sandbox", "manual", "--write", pages)
    output_of(environment / "bin" / "sphinx-build", *options.split(), pages, site)
    names = [page.relative_to(pages).with_suffix("").as_posix() for page in pages.rglob("*.md")]
    assert len(names) > 20
    for name in names:
        assert (site / name.removesuffix("index") / "index.html").is_file(), name
    for file in (*site.rglob("*.html"), *site.rglob("*.css")):
        assert not LOADED.search(file.read_text("utf-8")), file
