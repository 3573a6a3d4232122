"""The pins in the wheel, and the bill of materials."""

from __future__ import annotations

import json
import re
from importlib.metadata import requires, version
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import reseller_sandbox
from tests.command import printed

ROOT = Path(__file__).parents[2]
PINS = Path(reseller_sandbox.__file__).parent / "deploy" / "requirements.txt"

#: A package at its version, for which systems, and with which hashes.
_ROW = re.compile(r"^([\w.-]+)==(\S+)( ; [^\\\n]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)


def rows(file: Path) -> dict[str, tuple[str, ...]]:
    return {found[1]: found.groups() for found in _ROW.finditer(file.read_text("utf-8"))}


def test_the_pins_of_the_wheel_equal_those_of_the_project() -> None:
    assert PINS.read_text("utf-8").count("==") == len(rows(PINS))
    assert rows(PINS).items() <= rows(ROOT / ".requirements.lock").items()


def test_the_build_of_a_checkout_has_its_dependencies() -> None:
    """The Makefile names hatchling and editables, and their dependencies beside the pins of the wheel."""
    (build,) = re.findall(r"^BUILD := (.*)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    needed, left = set[str](), ["hatchling", "editables"]
    while left:
        needed.add(name := canonicalize_name(left.pop()))
        wanted = (Requirement(one) for one in requires(name) or ())
        left += [one.name for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    assert build == "|".join(sorted(needed - rows(PINS).keys()))


def test_the_bill_lists_the_installed_packages() -> None:
    """Each package has its version, licence, hashes and dependencies."""
    bill: Any = json.loads(printed("deploy", "sbom"))
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is None
    pins = rows(PINS)
    for_others = {name for name, row in pins.items() if "sys_platform" in (row[2] or "")}
    assert {one["name"] for one in bill["components"]} == pins.keys() - for_others
    for one in bill["components"]:
        name = one["name"]
        assert one["version"] == version(name)
        assert one["purl"] == f"pkg:pypi/{name}@{one['version']}"
        assert one["licenses"], name
        hashes = [row["content"] for row in one["hashes"] if row["alg"] == "SHA-256"]
        assert hashes == re.findall(r"sha256:(\w+)", pins[name][3]), name
    known = {one["bom-ref"] for one in bill["components"]}
    needs = {row["ref"]: row["dependsOn"] for row in bill["dependencies"]}
    assert needs.keys() == known | {bill["metadata"]["component"]["bom-ref"]}
    assert {one for row in needs.values() for one in row} == known
    assert json.loads(printed("deploy", "sbom")) == bill, "the bill differs from time to time"
    assert not {"serialNumber", "timestamp"} & {*bill, *bill["metadata"]}
