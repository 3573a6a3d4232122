"""Canned answers: responses to requests that no operation of the contract takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from reseller_sandbox.answers import NAME_FIELDS, CannedAnswer, filled
from reseller_sandbox.refusals import UNKNOWN_PATH, Refused
from reseller_sandbox.registry.state import relevant_order
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire
from reseller_sandbox.values.names import well_formed
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.web.headers import header_value
from reseller_sandbox.web.interface import Answer
from reseller_sandbox.worlds import World


def find(request: RequestContext, world: World) -> str:
    """Return the name of the first canned answer that matches ``request``, or an empty string."""
    answers = world.snapshot.answers.items()
    return next((name for name, answer in answers if answer.match(request) is not None), "")


def respond(request: RequestContext, world: World) -> Answer:
    """Return the canned answer ``request.canned``, and count the request."""
    answers = world.snapshot.answers
    answer = answers.get(request.canned)
    # The answer was removed while a fault delayed the request, or does not exist in an older state.
    if answer is None:
        reason = f"the canned answer {request.canned} does not exist"
        raise Refused(UNKNOWN_PATH, method=request.method, path=request.path, nearest=reason)
    counted = replace(answer, matched=answer.matched + 1)
    world.change(answers={**answers, request.canned: counted})
    request.after = world.snapshot
    request.carried_out = True
    values = _Values(request, world, counted)
    response = answer.response
    for name, text in (response.headers or {}).items():
        request.headers_out[name] = header_value(str(filled(text, values)))
    body = filled(response.body, values)
    if body is None or isinstance(body, str):
        content_type = response.content_type or "text/plain; charset=utf-8"
        return Answer(response.status, (body or "").encode("utf-8", "backslashreplace"), content_type)
    return Answer(response.status, body, response.content_type or "application/json")


class _Values:
    """The values of the placeholders in one canned answer."""

    def __init__(self, request: RequestContext, world: World, answer: CannedAnswer) -> None:
        self._request = request
        self._world = world
        self._answer = answer
        self._of_path = answer.match(request) or {}

    def __call__(self, placeholder: str) -> Any:
        """Return the value of ``placeholder``, or None if the request has no such value."""
        root, *rest = placeholder.split(".")
        if root in self._of_path:
            return self._of_name(self._of_path[root], rest[0]) if rest else self._of_path[root]
        request = self._request
        match root:
            case "account":
                return self._of_account(rest[0] if rest else "name")
            case "body":
                return _within(request.json, rest)
            case "count":
                return self._answer.matched
            case "now":
                return wire(self._world.clock.now())
            case "query":
                return request.query_value(".".join(rest))
        return request.cause

    def _of_account(self, field: str) -> Any:
        sender = self._request.sender
        account = self._world.state.accounts.get(sender.client_id) if sender is not None else None
        value = getattr(account, field, None)
        return money.write(value) if value is not None and field == "balance" else value

    def _of_name(self, text: str, field: str) -> Any:
        name, state = well_formed(text), self._world.state
        order = relevant_order(state, self._request.sender, name) if name is not None else None
        return NAME_FIELDS[field](state, order) if order is not None else None


def _within(value: Any, keys: Sequence[str]) -> Any:
    """Return the part of a JSON value to which ``keys`` lead, or None if there is no such part."""
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value
