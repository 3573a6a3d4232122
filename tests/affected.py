"""Print the tests that the changed files can break: ``python -m tests.affected``, for ``make check``.

A change of a test file affects this file. A change of a helper of tests, or of a part of the package, affects
the folder of tests with its name, or the tests that ``TESTED`` names. Any part affects ``DERIVED``.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "sandbox/reseller_sandbox/"

#: Tests of the rules of the registry, which every part of the sandbox uses.
RULES = ("lifecycle", "v3/test_refusals.py", "v3/test_orders.py", "v2/test_ladders.py")

#: Tests that know every action of third parties.
ACTIONS = ("third_parties", "fixture/test_load.py")

#: A test that knows every assumption.
CALIBRATED = "tools/test_calibrate.py::test_har_files_of_every_program_become_a_profile_without_secrets"

#: Tests for a working tree without a change.
QUICK = ("tests/units", "tests/lifecycle", "tests/time", "tests/v3")

#: The tests of parts of the package whose folder of tests has another name, and of single files.
TESTED = {
    "cli": ("command_line/test_words.py",),
    "clients": ("testing/test_clients.py", "testing/test_intercept.py"),
    "control_http": ("control",),
    "faults": ("faults", "testing/test_equivalence.py"),
    "page": ("page/test_serving.py",),
    "recording": ("recordings",),
    "refusals": RULES,
    "registry": (
        *RULES,
        "time",
        "journal/test_journal.py",
        "v3/test_assumptions.py",
        "v2/test_assumptions.py",
    ),
    "registry/assumptions.py": (CALIBRATED,),
    "registry/third_parties.py": ACTIONS,
    "control/simulate.py": ACTIONS,
    "server": ("server/test_requests.py", "server/test_delivery.py"),
    "testing": ("testing/test_plugin.py",),
    "tools": ("tools/test_sweep.py", "tools/test_explore.py"),
    "values": ("units", "fixture/test_mistakes.py"),
    "web": ("web", "v3", "v2/test_ladders.py"),
    "worlds": ("worlds/test_fixtures.py", "worlds/test_forking.py"),
}

#: Tests of documents, reference pages, golden files, interfaces and catalogues, which follow from it.
DERIVED = (
    *("test_architecture.py", "contract", "manual/test_pages.py", "golden"),
    *("control/test_general.py", "control/test_interfaces.py", "control/test_types.py"),
    *("coverage", "reports", "units/test_records.py", "units/test_suggestions.py"),
)


def affected(changed: Iterable[str]) -> set[str]:
    """Return the paths of tests that a change of these files can break."""
    tests = {f"tests/{test}" for file in changed for test in _affected_by(file)}
    return {test for test in tests if (ROOT / test.partition("::")[0]).exists()}


def _affected_by(file: str) -> tuple[str, ...]:
    folder, _, name = file.rpartition("/")
    if folder.startswith("tests"):
        if name.startswith("test_"):
            return (file.removeprefix("tests/"),)
        return (folder.removeprefix("tests/"),) if folder != "tests" else RULES
    if not file.startswith(PACKAGE):
        return ("manual/test_pages.py", "test_repository.py")
    file = file.removeprefix(PACKAGE)
    part = file.partition("/")[0]
    if part == "manual" and not file.endswith(".py"):
        return ("manual/test_pages.py", "control/test_general.py")
    return (*TESTED.get(part, (part,)), *TESTED.get(file, ()), *DERIVED)


def changed_files() -> list[str]:
    """Return the files that differ from the last commit."""
    listed = ("diff --name-only HEAD", "ls-files --others --exclude-standard")
    return [
        file
        for words in listed
        for file in subprocess.check_output(["git", *words.split()], cwd=ROOT, text=True).split()
    ]


if __name__ == "__main__":
    print(*sorted(affected(changed_files()) or QUICK))
