"""The manual as a site, made by the commands of ``make site``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tests.installed.conftest import ROOT, run

#: What is asked for of other machines by a page that is read: files, not links to follow.
LOADED = re.compile(
    r"<(?:script|img|iframe|source)[^>]*src=\"[a-z]*:?//|<link[^>]*href=\"[a-z]*:?//|url\([\"']?[a-z]*:?//"
)


def test_the_site_is_built_without_a_warning_and_read_without_the_network(tmp_path: Path) -> None:
    """Every page is there; none loads anything from elsewhere."""
    environment, pages, site = tmp_path / "venv", tmp_path / "pages", tmp_path / "site"
    run(sys.executable, "-m", "venv", str(environment))
    pins = re.findall(
        r"[\w-]+==[\w.]+", next(re.finditer(r"^.venv/site:(.*?)\n\n", makefile(), re.S | re.M))[1]
    )
    assert len(pins) == 3
    run(str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", *pins)
    run(sys.executable, "-m", "reseller_sandbox", "manual", "--write", str(pages))
    build = next(re.finditer(r"sphinx-build (.*?) \.venv/pages", makefile()))[1].split()
    run(str(environment / "bin" / "sphinx-build"), *build, str(pages), str(site))
    names = [page.relative_to(pages).with_suffix("").as_posix() for page in pages.rglob("*.md")]
    assert len(names) > 20
    for name in names:
        assert (site / name.removesuffix("index") / "index.html").is_file(), name
    for file in (*site.rglob("*.html"), *site.rglob("*.css")):
        assert not LOADED.search(file.read_text("utf-8")), file


def makefile() -> str:
    """The project's Makefile."""
    return (ROOT / "Makefile").read_text("utf-8")
