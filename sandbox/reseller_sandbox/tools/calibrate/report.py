"""The report of a calibration: text, JSON and a profile, all without secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import yaml

from reseller_sandbox.advice.words import plural
from reseller_sandbox.app_factory import contract
from reseller_sandbox.registry.assumptions import kinds, spelt
from reseller_sandbox.server.secrecy import MASK, is_secret, text_masked
from reseller_sandbox.tools.calibrate import Calibration, Determination, Deviation
from reseller_sandbox.tools.calibrate.bench import UNSEEN
from reseller_sandbox.tools.calibrate.likeness import ABSENT, Difference
from reseller_sandbox.values.text_checks import printable, shortened
from reseller_sandbox.worlds.redact import masked

#: The most differences listed for one exchange, and the most unexplained exchanges listed.
_MOST, _MOST_EXCHANGES = 8, 50

#: The headings of the requests that would determine an assumption.
_ALONE = "not determined; a request that would determine each"
_WITH_FIXTURE = "not determined; a request that would determine each, with a --fixture of the initial state"

#: Why no answer determines an assumption about signatures.
_SIGNED = "a transcript does not show the signed string; sign a request in each form to determine this"


def lines(found: Calibration, skipped: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Yield the report as text."""
    determinations = found.determinations
    determined = [each for each in determinations.values() if each.value is not None]
    narrowed = [each for each in determinations.values() if each.value is None and each.is_narrowed]
    yield (
        f"{plural(found.exchanges, 'exchange')}: {len(determined)} of {len(kinds())} assumptions are "
        f"determined, {len(narrowed)} narrowed"
    )
    if determined:
        yield "\ndetermined:"
    for each in determined:
        yield f"  {each.name}={spelt(each.value)}{_not(each)}  ({_places(each.by)})"
    if narrowed:
        yield "\nnarrowed:"
    for each in narrowed:
        left = " or ".join(spelt(value) for value in each.left) or "some other value"
        yield f"  {each.name}: {left}{_not(each)}  ({_places(each.by)})"
    for heading, requests in _determining_requests().items():
        undetermined = [
            name for name in requests if name not in determinations or not determinations[name].is_narrowed
        ]
        if undetermined:
            yield f"\n{heading}:"
        yield from (f"  {name}: {requests[name]}" for name in undetermined)
    if found.deviations:
        yield "\nexplained by no value:"
    for deviation in found.deviations[:_MOST_EXCHANGES]:
        yield from side_by_side(deviation)
    if len(found.deviations) > _MOST_EXCHANGES:
        yield f"  and {len(found.deviations) - _MOST_EXCHANGES} more"
    if found.given_up:
        yield f"\nnot searched, because there are too many states to try: {_places(found.given_up)}"
    if found.lost:
        yield f"\nfollowed from the fixture up to {printable(found.lost)}, which the fixture does not explain"
    if skipped:
        yield "\nskipped:"
    for reason in dict.fromkeys(reason for _, reason in skipped):
        places = [place for place, why in skipped if why == reason]
        yield f"  {_places(places)}: {reason}"


def _determining_requests() -> dict[str, dict[str, str]]:
    """Return the request that would determine each assumption, by heading."""
    operations = {one.id: f"{one.method} {one.path}" for one in contract()}
    file = files("reseller_sandbox.tools.calibrate").joinpath("requests.yaml")
    sections = yaml.safe_load(file.read_text("utf-8"))

    def in_words(requests: Mapping[str, str]) -> dict[str, str]:
        words = {name: request.partition(" ") for name, request in requests.items()}
        return {name: f"{operations[operation]}, {how}" for name, (operation, _, how) in words.items()}

    return {
        _ALONE: in_words(sections["alone"]),
        _WITH_FIXTURE: in_words(sections["with_fixture"]),
        "not determinable from answers": dict.fromkeys(UNSEEN, _SIGNED),
    }


def as_json(found: Calibration, skipped: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return the report for programs."""
    requests = _determining_requests()
    would_determine = requests[_ALONE] | requests[_WITH_FIXTURE]
    return {
        "exchanges": found.exchanges,
        "assumptions": [
            {
                **{key: getattr(each, key) for key in ("name", "value", "left", "ruled_out")},
                "determined_by": each.by,
                "would_determine": None if each.is_narrowed else would_determine.get(each.name),
            }
            for each in found.determinations.values()
        ],
        "deviations": [
            {
                "place": deviation.exchange.place,
                "operation": deviation.operation,
                "differences": [
                    {
                        "where": each.where,
                        "service": shown(each, each.service),
                        "sandbox": shown(each, each.sandbox),
                    }
                    for each in deviation.differences
                ],
            }
            for deviation in found.deviations
        ],
        "left_aside": list(found.given_up),
        "followed_to": found.lost or None,
        "passed_over": [{"place": place, "reason": reason} for place, reason in skipped],
    }


def profile(found: Calibration, sources: int) -> str:
    """Return a profile of the determined values, for ``--profile``."""
    exchanges, transcripts = plural(found.exchanges, "exchange"), plural(sources, "transcript")
    head = f"# Assumptions of the service, determined or narrowed by {exchanges} in {transcripts}.\n"
    assume = {
        name: list(value) if isinstance(value, tuple) else value for name, value in found.assume.items()
    }
    return head + yaml.safe_dump({"assume": assume}, sort_keys=False, allow_unicode=True)


def shown(difference: Difference, value: Any) -> Any:
    """Return a value of an answer with its secrets masked."""
    if value is ABSENT:
        return None
    if is_secret(difference.where.rpartition(".")[2]):
        return MASK
    return text_masked(value) if isinstance(value, str) else masked(value)


def side_by_side(deviation: Deviation) -> Iterator[str]:
    """Yield the lines of an exchange that is not explained."""
    yield f"  {printable(deviation.exchange.place)}: {deviation.operation}"
    for each in deviation.differences[:_MOST]:
        service, sandbox = (
            "nothing" if value is ABSENT else printable(shortened(shown(each, value)))
            for value in (each.service, each.sandbox)
        )
        yield f"    {printable(each.where)}: the service {service}, the sandbox {sandbox}"
    if len(deviation.differences) > _MOST:
        yield f"    and {len(deviation.differences) - _MOST} more"


def _not(one: Determination) -> str:
    return f", not {', '.join(map(spelt, one.ruled_out))}" if one.ruled_out else ""


def _places(places: Sequence[str]) -> str:
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return printable(places[0]) + more if places else ""
