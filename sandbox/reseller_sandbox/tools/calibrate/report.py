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
from reseller_sandbox.tools.calibrate.likeness import LACKING, Unlikeness
from reseller_sandbox.values.text_checks import printable, shortened
from reseller_sandbox.worlds.redact import masked

#: The most differences listed for one exchange, and the most unexplained exchanges listed.
_MOST, _MOST_EXCHANGES = 8, 50

#: The headings of the requests that would determine an assumption.
_ALONE = "not told, and what would tell it"
_WITH_FIXTURE = "not told, and what would tell it together with --fixture, for what there was at first"

#: Why no answer determines an assumption about signatures.
_SIGNED = "what was signed cannot be seen without the secret; a refused request of your own tells it"


def lines(found: Calibration, passed_over: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Yield the report as text."""
    told = [one for one in found.verdicts.values() if one.value is not None]
    partly = [one for one in found.verdicts.values() if one.value is None and one.is_determined]
    count = plural(found.exchanges, "exchange")
    yield f"{count}: {len(told)} of {len(kinds())} assumptions are told, {len(partly)} in part"
    if told:
        yield "\ntold:"
    for one in told:
        yield f"  {one.name}={spelt(one.value)}{_not(one)}  ({_places(one.by)})"
    if partly:
        yield "\ntold in part:"
    for one in partly:
        left = " or ".join(spelt(value) for value in one.left) or "some other value"
        yield f"  {one.name}: {left}{_not(one)}  ({_places(one.by)})"
    for head, requests in _telling_requests().items():
        open_ = [
            name for name in requests if not (name in found.verdicts and found.verdicts[name].is_determined)
        ]
        if open_:
            yield f"\n{head}:"
        yield from (f"  {name}: {requests[name]}" for name in open_)
    if found.deviations:
        yield "\nexplained by no value:"
    for deviation in found.deviations[:_MOST_EXCHANGES]:
        yield from side_by_side(deviation)
    if len(found.deviations) > _MOST_EXCHANGES:
        yield f"  and {len(found.deviations) - _MOST_EXCHANGES} more"
    if found.left_aside:
        yield f"\nleft aside, since too much was to be tried: {_places(found.left_aside)}"
    if found.lost:
        yield f"\nfollowed from the fixture up to {printable(found.lost)}, which it does not lead to"
    if passed_over:
        yield "\npassed over:"
    reasons = [reason for _, reason in passed_over]
    for reason in dict.fromkeys(reasons):
        first = printable(next(place for place, why in passed_over if why == reason))
        often = reasons.count(reason)
        yield f"  {first} {reason}" if often == 1 else f"  {often} that {_plural(reason)}, first {first}"


def _telling_requests() -> dict[str, dict[str, str]]:
    """Return the request that would determine each assumption, by heading."""
    operations = {one.id: f"{one.method} {one.path}" for one in contract()}
    file = files("reseller_sandbox.tools.calibrate").joinpath("requests.yaml")
    told = yaml.safe_load(file.read_text("utf-8"))

    def in_words(requests: Mapping[str, str]) -> dict[str, str]:
        words = {name: request.partition(" ") for name, request in requests.items()}
        return {name: f"{operations[operation]}, {how}" for name, (operation, _, how) in words.items()}

    return {
        _ALONE: in_words(told["alone"]),
        _WITH_FIXTURE: in_words(told["with_fixture"]),
        "not to be told by answers": dict.fromkeys(UNSEEN, _SIGNED),
    }


def as_json(found: Calibration, passed_over: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return the report for programs."""
    requests = _telling_requests()
    would_tell = requests[_ALONE] | requests[_WITH_FIXTURE]
    return {
        "exchanges": found.exchanges,
        "assumptions": [
            {
                **{key: getattr(one, key) for key in ("name", "value", "left", "ruled_out")},
                "told_by": one.by,
                "would_tell": None if one.is_determined else would_tell.get(one.name),
            }
            for one in found.verdicts.values()
        ],
        "deviations": [
            {
                "place": one.exchange.place,
                "operation": one.operation,
                "differences": [
                    {
                        "where": each.where,
                        "service": shown(each, each.told),
                        "sandbox": shown(each, each.made),
                    }
                    for each in one.differences
                ],
            }
            for one in found.deviations
        ],
        "left_aside": list(found.left_aside),
        "followed_to": found.lost or None,
        "passed_over": [{"place": place, "reason": reason} for place, reason in passed_over],
    }


def profile(found: Calibration, sources: int) -> str:
    """Return a profile of the determined values, for ``--profile``."""
    head = f"# What {found.exchanges} exchanges of {sources} transcripts tell of the service.\n"
    assume = {
        name: list(value) if isinstance(value, tuple) else value for name, value in found.assume.items()
    }
    return head + yaml.safe_dump({"assume": assume}, sort_keys=False, allow_unicode=True)


def shown(difference: Unlikeness, value: Any) -> Any:
    """Return a value of an answer with its secrets masked."""
    if value is LACKING:
        return None
    if is_secret(difference.where.rpartition(".")[2]):
        return MASK
    return text_masked(value) if isinstance(value, str) else masked(value)


def side_by_side(one: Deviation) -> Iterator[str]:
    """Yield the lines of an exchange that is not explained."""
    yield f"  {printable(one.exchange.place)}: {one.operation}"
    for each in one.differences[:_MOST]:
        told, made = (
            "nothing" if value is LACKING else shortened(shown(each, value))
            for value in (each.told, each.made)
        )
        yield f"    {printable(each.where)}: the service {printable(told)}, the sandbox {printable(made)}"
    if len(one.differences) > _MOST:
        yield f"    and {len(one.differences) - _MOST} more"


def _not(one: Determination) -> str:
    return f", not {', '.join(map(spelt, one.ruled_out))}" if one.ruled_out else ""


def _places(places: Sequence[str]) -> str:
    more = f" and {len(places) - 1} more" if len(places) > 1 else ""
    return printable(places[0]) + more if places else ""


def _plural(reason: str) -> str:
    words = {"is": "are", "has": "have", "does": "do", "was": "were"}
    first, _, rest = reason.partition(" ")
    return f"{words.get(first, first)} {rest}"
