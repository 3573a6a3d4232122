"""Writes a page on each failed test, and attaches it to reports of pytest-html and JUnit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from reseller_sandbox.refusals import Refused
from reseller_sandbox.remote import Unreachable
from reseller_sandbox.reports.failure import FailedWorld, page, read_world
from reseller_sandbox.testing.run import Sandboxes, file_name

#: The name of the attachment, and of the property in a JUnit report.
NAME = "reseller_sandbox_report"


def write_page(item: pytest.Item, report: pytest.TestReport, run: Sandboxes, folder: Path) -> None:
    """Write the page on a failed test and attach it. If that fails, the report gets the reason."""
    phase = "" if report.when == "call" else f"-{report.when}"
    file = folder / f"{file_name(item)}{phase}.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file.write_text(page(item.nodeid, report.longreprtext, _worlds(item, run)), "utf-8")
    except OSError as problem:
        report.sections.append(("reseller sandbox", f"no page at {file}: {problem.strerror}"))
        return
    report.sections.append(("reseller sandbox: page on this test", str(file)))
    # Use the item, not this report: JUnit takes the properties from the report of the last phase.
    item.user_properties.append((NAME, str(file)))
    if item.config.pluginmanager.hasplugin("html"):
        from pytest_html import extras

        target = item.config.getoption("htmlpath", None)
        link = os.path.relpath(file, Path(target).absolute().parent) if target else str(file)
        attached = [*getattr(report, "extras", []), extras.url(link, name="reseller sandbox")]
        report.extras = attached  # type: ignore[attr-defined]


def _worlds(item: pytest.Item, run: Sandboxes) -> Iterator[FailedWorld]:
    """Yield the worlds of a failed test that can still be read."""
    for sandbox, recording in run.failed(item):
        try:
            yield read_world(sandbox, recording)
        except (Refused, Unreachable):
            continue
