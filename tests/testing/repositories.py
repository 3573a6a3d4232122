"""Repositories of users who have something of their own that is called ``sandbox``, and a suite in each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_OWN = "WHOSE = 'the user'\n"

#: Files by their paths.
REPOSITORIES: Mapping[str, Mapping[str, str]] = {
    "a module": {"sandbox.py": _OWN},
    "a package": {"sandbox/__init__.py": _OWN, "sandbox/testing/__init__.py": "", "sandbox/inprocess.py": ""},
    "a package in src": {
        "src/sandbox/__init__.py": _OWN,
        "pytest.ini": "[pytest]\npythonpath = src\n",
        "src/reseller.py": "",
    },
    "a package without a file": {"sandbox/settings.py": _OWN},
}

_SUITE = """
import sys


def test_has_the_reseller_sandbox(reseller_sandbox):
    assert reseller_sandbox.client("poor").get("/v3/balance").json[0]["balance"] == "5.00"
    reseller_sandbox.clock.advance("1y")


def test_has_a_server(reseller_sandbox):
    import urllib.request
    with reseller_sandbox.serve() as server:
        with urllib.request.urlopen(f"{{server.url}}/_sandbox/health") as answer:
            assert answer.status == 200


def test_has_its_own_sandbox_which_nobody_has_imported():
    assert "sandbox" not in sys.modules
    import {module} as own
    assert own.WHOSE == "the user"
"""


def lay_out(name: str, folder: Path) -> None:
    """Write a user's repository into ``folder``; its suite has three tests."""
    files = REPOSITORIES[name]
    module = "sandbox.settings" if "sandbox/settings.py" in files else "sandbox"
    for path, content in {**files, "tests/test_suite.py": _SUITE.format(module=module)}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
