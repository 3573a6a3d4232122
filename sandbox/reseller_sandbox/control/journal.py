"""The journal: every request with what came of it, and whether those came that were expected."""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import ValidationError, fields, validate, validates_schema

from reseller_sandbox.control.call import ControlCall, Strict
from reseller_sandbox.control.history import ChangeShown
from reseller_sandbox.control.ledger import MovementShown
from reseller_sandbox.core import refusals
from reseller_sandbox.core.matching import Match
from reseller_sandbox.core.parts import schema, spoken
from reseller_sandbox.core.refusals import INVALID_PARAMETER, MALFORMED_BODY
from reseller_sandbox.core.words import read_match
from reseller_sandbox.web.fields import Digits, Instant, Listed, Shape, Shaped, Text, Truth, Whole, Within
from reseller_sandbox.web.generation import Endpoint
from reseller_sandbox.worlds import plain, shown, verify
from reseller_sandbox.worlds.verify import NearMiss, Verdict

#: How many requests are listed where nobody says.
LISTED = 100


class Summary(Shape):
    """A request in one line: who asked for what, when, and what came of it.

    ``carried_out`` is whether the operation was done, ``outcome`` what the client was told (``ok``, an
    error's name, or ``fault`` where no answer of the interface's own arrived), ``fault`` what struck.
    """

    id = Text()
    at = Instant()
    operation = Text()
    account = Text(allow_none=True)
    domains = Listed(Text())
    status = fields.Integer()
    carried_out = Truth()
    outcome = Text()
    fault = Text(allow_none=True)
    fault_kind = Text(allow_none=True)
    duration_ms = fields.Float()


class RequestShown(Shape):
    """A request; its secrets are masked. ``cut`` is the size of a body that was too long to be kept whole.

    ``ignored`` are the keys that nothing read.
    """

    method = Text()
    target = Text()
    headers = fields.Dict(keys=Text(), values=Text())
    ignored = Listed(Text())
    body = fields.Raw(allow_none=True)
    cut = fields.Integer(allow_none=True)


class AnswerShown(Shape):
    """Its answer, or what would have been it where a fault let it be ``lost``; its secrets are masked."""

    status = fields.Integer()
    body = fields.Raw(allow_none=True)
    cut = fields.Integer(allow_none=True)
    lost = Truth()


class MetShown(Shape):
    """The state that a refused request met: its account's money, and each name it was about."""

    account = Text(allow_none=True)
    balance = Text(allow_none=True)
    currency = Text(allow_none=True)
    domains = Listed(fields.Dict())


class RefusalShown(Shape):
    """Why it was refused: the rule, what it says, the state that was met, the nearest allowed move.

    ``allowed_at`` is the instant at which time alone makes that possible.
    """

    rule = Text()
    message = Text()
    facts = fields.Dict()
    met = Within(MetShown)
    allowed = Text()
    allowed_at = Text(allow_none=True)


class EntryShown(Summary):
    """All that there is to say of a request."""

    request = Within(RequestShown)
    answer = Within(AnswerShown)
    changes = Listed(Within(ChangeShown))
    refusal = Within(RefusalShown, allow_none=True)
    assumptions = fields.Dict()
    ledger = Listed(Within(MovementShown))


class JournalShown(Shape):
    """The latest requests that are meant, oldest first.

    ``matching`` counts all that are, ``kept`` what the journal holds, ``dropped`` what it held no longer.
    """

    requests = Listed(Within(EntryShown))
    matching = fields.Integer()
    kept = fields.Integer()
    dropped = fields.Integer()


class MatchWanted(fields.Raw):
    """Which requests are meant; how it is read is the match's own business."""

    shape: ClassVar[Shaped] = {"type": "object", "properties": schema(Match), "additionalProperties": False}


class _Limited(Strict):
    """Which requests are meant, and how many of the latest to show."""

    limit = Digits(validate=validate.Range(0, 10_000, error="must lie between 0 and 10000"))


#: What a match says in words, each of which fits into a query string.
_SPOKEN = {
    name: fields.Raw(metadata=shape)
    for name, shape in schema(Match).items()
    if name not in ("headers", "query", "body")
}

JournalWanted = _Limited.from_dict(dict(_SPOKEN), name="JournalWanted")


class VerifyWanted(Strict):
    """What is expected: ``match`` with ``count``, ``at_least`` or ``at_most`` (one at least where none is
    said), or ``in_order``, a list of matches."""

    match = MatchWanted()
    count = Whole()
    at_least = Whole()
    at_most = Whole()
    in_order = Listed(MatchWanted())

    @validates_schema
    def one_kind(self, given: dict[str, Any], **_: Any) -> None:
        """Either a match with a number, or an order."""
        bounds = [name for name in ("count", "at_least", "at_most") if name in given]
        if ("match" in given) is ("in_order" in given):
            raise ValidationError("takes either match or in_order")
        if "in_order" in given and bounds:
            raise ValidationError(f"{bounds[0]} does not go with in_order")


class MissShown(Shape):
    """One thing about a request that is not as it was expected to be."""

    what = Text()
    expected = fields.Raw()
    actual = fields.Raw()


class NearMissShown(Shape):
    """A request that came near, and in what it missed."""

    request = Within(Summary)
    misses = Listed(Within(MissShown))


class VerdictShown(Shape):
    """Whether what was expected came, in words; the requests that did, and those that came near."""

    verified = Truth()
    message = Text()
    count = fields.Integer()
    requests = Listed(Within(Summary))
    near_misses = Listed(Within(NearMissShown))


class Cleared(Shape):
    """How many requests were forgotten."""

    cleared = fields.Integer()


def show_all(call: ControlCall) -> dict[str, Any]:
    """The requests that the world remembers, with their answers, changes and refusals."""
    given = dict(call.arguments)
    limit = given.pop("limit", LISTED)
    found = verify.find(call.world, _match(call, spoken(Match, given), ""))
    return {
        "requests": [shown.entry(entry) for entry in found[max(len(found) - limit, 0) :]],
        "matching": len(found),
        "kept": len(call.world.journal),
        "dropped": call.world.journal.dropped,
    }


def show(call: ControlCall) -> dict[str, Any]:
    """One request: what was asked and answered, what it changed, and why it was refused if it was."""
    return shown.entry(call.world.journal.get(call.arguments["request"]))


def clear(call: ControlCall) -> dict[str, Any]:
    """Forget every request. What they changed stays; they cannot be rewound to any more."""
    return {"cleared": call.world.forget_requests()}


def check(call: ControlCall) -> dict[str, Any]:
    """Whether the requests came that were expected, and if not, which came near and what they missed."""
    asked = call.arguments
    if "in_order" in asked:
        return _verdict(
            verify.in_order(
                call.world,
                [_match(call, match, f"in_order[{at}]") for at, match in enumerate(asked["in_order"])],
            )
        )
    bounds = {"exactly": asked.get("count"), "least": asked.get("at_least"), "most": asked.get("at_most")}
    return _verdict(verify.count(call.world, _match(call, asked["match"]), **bounds))


def _match(call: ControlCall, given: Any, place: str = "match") -> Match:
    return read_match(given, call.words, place)


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "verified": verdict.verified,
        "message": verdict.message,
        "count": len(verdict.found),
        "requests": [shown.summary(entry) for entry in verdict.found[-LISTED:]],
        "near_misses": [_near(miss) for miss in verdict.near],
    }


def _near(near: NearMiss) -> dict[str, Any]:
    misses = [
        {"what": miss.what, "expected": plain.plain(miss.expected), "actual": plain.plain(miss.actual)}
        for miss in near.misses
    ]
    return {"request": shown.summary(near.entry), "misses": misses}


_PATH = "/_sandbox/journal"

ENDPOINTS = (
    Endpoint(
        id="control.journal",
        lengthy_from=0,
        method="GET",
        paths=(_PATH,),
        handle=show_all,
        query=JournalWanted(),
        answer=JournalShown(),
        refuses=(INVALID_PARAMETER,),
    ),
    Endpoint(
        id="control.journal.show",
        method="GET",
        paths=(f"{_PATH}/{{request}}",),
        handle=show,
        answer=EntryShown(),
        refuses=(refusals.UNKNOWN_REQUEST,),
    ),
    Endpoint(
        id="control.journal.clear",
        method="DELETE",
        paths=(_PATH,),
        handle=clear,
        answer=Cleared(),
        refuses=(MALFORMED_BODY,),
    ),
    Endpoint(
        id="control.verify",
        lengthy_from=0,
        method="POST",
        paths=("/_sandbox/verify",),
        handle=check,
        body=VerifyWanted(),
        answer=VerdictShown(),
        refuses=(MALFORMED_BODY, INVALID_PARAMETER),
    ),
)
