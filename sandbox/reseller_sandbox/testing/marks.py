"""What the marks of a test ask for: the settings of its sandbox, and what must not be left over in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

MARK = "reseller_sandbox"

#: What can be left over in a world, and fail its test.
LEFT_OVER = ("faults", "plans", "advice")


@dataclass(frozen=True)
class Wanted:
    """The settings that the marks of a test give, and what of ``LEFT_OVER`` fails it."""

    settings: Mapping[str, Any]
    strict: frozenset[str]


def wanted(node: pytest.Item, strict: frozenset[str]) -> Wanted:
    """Return what the marks of a function, its class and its module say; the nearest counts.

    Assumptions count one by one. ``strict`` holds where no mark says otherwise. Raise ``BadSetting``.
    """
    from reseller_sandbox.config_sources import over
    from reseller_sandbox.settings import BadSetting

    told: dict[str, Any] = {}
    for mark in reversed(list(node.iter_markers(MARK))):
        if mark.args:
            raise BadSetting(
                f"@pytest.mark.{MARK} takes its settings by their names, such as fixture='empty'; "
                f"{mark.args[0]!r} stands without one"
            )
        told = over(told, _known(mark.kwargs))
    if "strict" in told:
        strict = read_strict(told.pop("strict"))
    return Wanted(told, strict)


def read_strict(given: object) -> frozenset[str]:
    """Return what of ``LEFT_OVER`` is meant: names, a text of them, True for all. Raise ``BadSetting``."""
    from reseller_sandbox.core.spelling import nearest
    from reseller_sandbox.settings import BadSetting

    if isinstance(given, bool):
        return frozenset(LEFT_OVER if given else ())
    names = given.replace(",", " ").split() if isinstance(given, str) else given
    if not isinstance(names, Iterable):
        raise BadSetting(f"strict must be some of {', '.join(LEFT_OVER)}, True or False")
    for name in (names := list(names)):
        if name not in LEFT_OVER:
            known = ", ".join(LEFT_OVER)
            raise BadSetting(f"strict must be some of {known}; it is {name!r}{nearest(str(name), LEFT_OVER)}")
    return frozenset(names)


def _known(told: Mapping[str, Any]) -> Mapping[str, Any]:
    from reseller_sandbox.core.complaints import complaint
    from reseller_sandbox.core.signatures import declared
    from reseller_sandbox.core.spelling import nearest
    from reseller_sandbox.settings import BadSetting, Settings

    known = (*(one.name for one in declared(Settings)), "strict")
    strange = [f"{one} is not known here{nearest(one, known)}" for one in told if one not in known]
    if strange:
        raise BadSetting(complaint(strange))
    return told
