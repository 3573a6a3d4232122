"""The bill of materials of this installation, as CycloneDX has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any

from reseller_sandbox.deploy.wheel import NAME

_NAME = re.compile(r"[\w.-]+")
_LICENSE = "License :: OSI Approved :: "


def bill_of_materials() -> dict[str, Any]:
    """Return what is installed of this package and of all that it needs.

    It has no date and no serial number: the same installation gives the same bytes.
    """
    found = _installed(NAME)
    own, *others = found.values()
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", **_component(own)}},
        "components": [
            {"type": "library", **_component(one)} for one in sorted(others, key=lambda one: _plain(one.name))
        ],
        "dependencies": [
            {
                "ref": _reference(found[name]),
                "dependsOn": [_reference(found[one]) for one in _needs(found[name])],
            }
            for name in sorted(found)
        ],
    }


def _installed(name: str) -> dict[str, Distribution]:
    """Return the distributions that ``name`` needs, itself first, by their plain names."""
    found = {name: distribution(name)}
    waiting = [name]
    while waiting:
        for one in _needs(found[waiting.pop()]):
            if one not in found:
                found[one] = distribution(one)
                waiting.append(one)
    return found


def _needs(one: Distribution) -> list[str]:
    """Return what a distribution needs without extras; what is not here is for other systems than this."""
    wanted = [row.partition(";") for row in one.requires or ()]
    names = {_plain(row) for row, _, marker in wanted if "extra ==" not in marker}
    return sorted(name for name in names if _is_here(name))


def _is_here(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _plain(requirement: str) -> str:
    found = _NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", found[0] if found else requirement).lower()


def _component(one: Distribution) -> dict[str, Any]:
    reference = _reference(one)
    told = {"bom-ref": reference, "name": _plain(one.name), "version": one.version, "purl": reference}
    licenses = list(_licenses(one))
    return {**told, "licenses": licenses} if licenses else told


def _reference(one: Distribution) -> str:
    return f"pkg:pypi/{_plain(one.name)}@{one.version}"


def _licenses(one: Distribution) -> Iterator[dict[str, Any]]:
    """Yield the licences that its metadata states: an expression, or else by the names of a list."""
    told: Any = one.metadata
    if "License-Expression" in told:
        yield {"expression": told["License-Expression"]}
        return
    for row in told.get_all("Classifier", ()):
        if row.startswith(_LICENSE):
            yield {"license": {"name": row.removeprefix(_LICENSE)}}
