"""Files for the findings of sweep and explore, such as JUnit and SARIF for CI systems."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

from msgspec import Struct

from reseller_sandbox.settings import BadSetting

#: A file and a line number, in the form of the header ``X-Sandbox-Source``.
_SOURCE = re.compile(r"(.+?):(\d+)")


class Case(Struct, frozen=True, kw_only=True):
    """One run of sweep or explore, or a group of runs. ``problem`` is empty unless the case is a finding."""

    group: str
    name: str
    rule: str
    problem: str = ""
    source: str = ""
    page: str = ""


def write_junit(file: Path, tool: str, cases: Iterable[Case]) -> str:
    """Write cases as JUnit XML, with one test suite for each group. Raise ``BadSetting``."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    root = ElementTree.Element("testsuites", name=tool)
    for group, members in groups.items():
        failures = sum(bool(case.problem) for case in members)
        suite = ElementTree.SubElement(
            root, "testsuite", name=group, tests=str(len(members)), failures=str(failures)
        )
        for case in members:
            element = ElementTree.SubElement(suite, "testcase", classname=group, name=case.name)
            if case.problem:
                message = case.problem.partition("\n")[0]
                failure = ElementTree.SubElement(element, "failure", type=case.rule, message=message)
                failure.text = "\n".join(filter(None, (case.problem, case.source, case.page)))
    ElementTree.indent(root)
    return write_file(file, ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n")


def write_sarif(file: Path, tool: str, cases: Iterable[Case]) -> str:
    """Write the cases that have a problem as SARIF 2.1.0, each problem once. Raise ``BadSetting``."""
    first = {(case.group, case.problem): case for case in reversed(list(cases)) if case.problem}
    findings = list(reversed(first.values()))
    rules = [{"id": rule} for rule in dict.fromkeys(case.rule for case in findings)]
    driver = {"name": f"reseller-sandbox {tool}", "rules": rules}
    results = [
        {
            "ruleId": case.rule,
            "level": "error",
            "message": {"text": f"{case.name}\n{case.problem}"},
            "locations": [_location(case)],
        }
        for case in findings
    ]
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return write_file(file, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _location(case: Case) -> dict[str, object]:
    """Return the SARIF location of a case: the line that sent the request, or else the program or test."""
    match = _SOURCE.match(case.source)
    place: dict[str, object] = {
        "artifactLocation": {"uri": match[1] if match else case.group.partition("::")[0]}
    }
    if match:
        place["region"] = {"startLine": int(match[2])}
    return {"physicalLocation": place}


def write_file(file: Path, content: str | bytes) -> str:
    """Write a file, in a new folder if necessary, and return the file. Raise ``BadSetting``."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as problem:
        raise BadSetting(f"{file}: {problem.strerror}") from None
    return str(file)
