"""Drift: differences between a service and an earlier profile of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.registry.assumptions import Assumptions, spelt
from reseller_sandbox.server.secrecy import Secrecy
from reseller_sandbox.tools.calibrate import Deviation, calibrated
from reseller_sandbox.tools.calibrate.hints import hints
from reseller_sandbox.tools.calibrate.likeness import ABSENT, Difference
from reseller_sandbox.tools.calibrate.report import in_words, named_places
from reseller_sandbox.tools.calibrate.transcripts import ObservedExchange
from reseller_sandbox.values.text_checks import plural, printable

_INDEX = re.compile(r"\[\d+\]")


class Drift(Struct, frozen=True):
    """One difference between a service and a profile: in an assumption, or in a field of an answer.

    ``kind`` is ``changed assumption``, ``changed error``, ``new field``, ``removed field``, ``changed type``
    or ``changed value``. ``expected`` is the value of the profile or of the sandbox, and ``observed`` that of
    the service. ``places`` are the places of the exchanges with the difference.
    """

    kind: str
    subject: str
    expected: Any
    observed: Any
    places: tuple[str, ...]


def drift(
    exchanges: Sequence[ObservedExchange], profile: Assumptions, secrecy: Secrecy, fixture: str | None
) -> list[Drift]:
    """Return each difference between a service and ``profile`` once. Raise ``FixtureError``."""
    known = calibrated(exchanges, profile, fixture=fixture)
    if not known.deviations:
        return []
    calibration = calibrated(exchanges, fixture=fixture)
    values = profile.values()
    changed = [
        Drift("changed assumption", each.name, spelt(values[each.name]), _observed(each.left), each.by)
        for each in calibration.determinations.values()
        if values[each.name] in each.ruled_out
    ]
    deviations = calibration.deviations if changed else known.deviations
    unique: dict[tuple[str, str], Drift] = {}
    for found in (drift for deviation in deviations for drift in _of_deviation(deviation, secrecy)):
        first = unique.setdefault((found.kind, found.subject), found)
        if first is not found:
            unique[found.kind, found.subject] = replace(first, places=(*first.places, *found.places))
    return [*changed, *unique.values()]


def _observed(left: Sequence[object]) -> str:
    return " or ".join(map(spelt, left)) or "another value"


def _of_deviation(deviation: Deviation, secrecy: Secrecy) -> Iterator[Drift]:
    """Yield one difference if the service answers with another error, otherwise one for each field."""
    operation, place = deviation.operation, (deviation.exchange.place,)

    def text(difference: Difference, value: object) -> str:
        words = in_words(difference, value, secrecy)
        return f"HTTP status {words}" if difference.where == "HTTP status" else words

    places = ("HTTP status", *hints().refusal)
    errors = [each for each in deviation.differences if each.where in places]
    if errors:
        first = errors[-1]
        yield Drift("changed error", operation, text(first, first.sandbox), text(first, first.service), place)
        return
    for each in deviation.differences:
        subject = f"{operation} {_INDEX.sub('[]', each.where)}"
        yield Drift(_kind(each), subject, text(each, each.sandbox), text(each, each.service), place)


def _kind(difference: Difference) -> str:
    service, sandbox = difference.service, difference.sandbox
    if sandbox is ABSENT:
        return "new field"
    if service is ABSENT:
        return "removed field"
    return "changed value" if type(service) is type(sandbox) else "changed type"


def lines(drifts: Sequence[Drift], exchanges: int, profile: str) -> Iterator[str]:
    """Yield the differences from ``profile`` as text."""
    if not drifts:
        yield f"{plural(exchanges, 'exchange')}: the service agrees with {profile}"
        return
    yield f"{plural(exchanges, 'exchange')}: {plural(len(drifts), 'difference')} from {profile}"
    for each in drifts:
        yield f"\n{each.kind}: {printable(each.subject)}  ({named_places(each.places)})"
        yield f"  - {each.expected}"
        yield f"  + {each.observed}"
