"""Canned answers: responses to requests that no operation of the contract takes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from http import HTTPStatus

from msgspec.structs import replace

from reseller_sandbox.answers import (
    LONGEST_SAVED,
    MOST_SAVED,
    NAME_FIELDS,
    ORDER_FIELDS,
    CannedAnswer,
    filled,
    saved_at,
    saved_below,
    with_saved,
    without_saved,
)
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
    return next((name for name, answer in answers if _matches(answer, request, world)), "")


def _matches(answer: CannedAnswer, request: RequestContext, world: World) -> bool:
    """Whether ``answer`` is for ``request``. With ``exists``, this depends on the saved values."""
    if answer.match(request) is None:
        return False
    if answer.exists is None:
        return True
    values = _Values(request, world, answer, world.snapshot.answers)
    return answer.exists == (values("entry") is not None or bool(values("entries")))


def near_miss(request: RequestContext, world: World) -> str:
    """Return the reason why a canned answer at the path of ``request`` does not match, or an empty string.

    The case of letters and a slash at the end count as another path.
    """
    path = request.path.rstrip("/").lower()
    for name, answer in world.snapshot.answers.items():
        if replace(answer, path=answer.path.rstrip("/").lower()).values_in(path) is None:
            continue
        if answer.match(request) is not None:
            return f"the canned answer {name} has exists={str(answer.exists).lower()}, which is not the case"
        if answer.values_in(request.path) is not None and answer.method == request.method:
            return f"the canned answer {name} has another request_body"
        return f"the canned answer {name} is for {answer.method} {answer.path}"
    return ""


def respond(request: RequestContext, world: World) -> Answer:
    """Return the canned answer ``request.canned``, and count the request."""
    answers = world.snapshot.answers
    answer = answers.get(request.canned)
    # The answer was removed while a fault delayed the request, or does not exist in an older state.
    if answer is None:
        reason = f"the canned answer {request.canned} does not exist"
        raise Refused(UNKNOWN_PATH, method=request.method, path=request.path, nearest=reason)
    counted = replace(answer, matched=answer.matched + 1)
    answers = {**answers, request.canned: counted}
    values = _Values(request, world, counted, answers)
    unsaved = ""
    if counted.save is not None:
        address, value = values.address, filled(counted.save, values)
        unsaved = _unsaved(request.canned, counted, address, value)
        answers = answers if unsaved else with_saved(answers, request.canned, address, value)
        values = _Values(request, world, counted, answers)
    world.change(answers=without_saved(answers, values.address) if counted.delete else answers)
    request.after = world.snapshot
    request.carried_out = True
    if unsaved:
        return Answer(HTTPStatus.INSUFFICIENT_STORAGE, {"message": unsaved}, "application/json")
    response = answer.response
    for name, text in (response.headers or {}).items():
        request.headers_out[name] = header_value(str(filled(text, values)))
    body = filled(response.body, values)
    if body is None or isinstance(body, str):
        content_type = response.content_type or "text/plain; charset=utf-8"
        return Answer(response.status, (body or "").encode("utf-8", "backslashreplace"), content_type)
    return Answer(response.status, body, response.content_type or "application/json")


def _unsaved(name: str, answer: CannedAnswer, address: str, value: object) -> str:
    """Return the reason why ``answer`` cannot save ``value``, or an empty string."""
    if address not in answer.store and len(answer.store) >= MOST_SAVED:
        return f"The canned answer {name} has saved {MOST_SAVED} values, which is the maximum."
    if len(address) + len(json.dumps(value, default=str)) > LONGEST_SAVED:
        return f"The canned answer {name} saves at most {LONGEST_SAVED} characters in one value."
    return ""


class _Values:
    """The values of the placeholders in one canned answer. ``answers`` hold the saved values."""

    def __init__(
        self, request: RequestContext, world: World, answer: CannedAnswer, answers: Mapping[str, CannedAnswer]
    ) -> None:
        self._request = request
        self._world = world
        self._answer = answer
        self._answers = answers
        self._of_path = answer.match(request) or {}

    @cached_property
    def address(self) -> str:
        """The address of the answer's entry, with the values of its placeholders."""
        return str(filled(f" {self._answer.entry or ''}", self)).strip()

    def __call__(self, placeholder: str) -> object:
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
            case "entries":
                return _within(saved_below(self._answers, self.address), rest)
            case "entry":
                return _within(saved_at(self._answers, self.address), rest)
            case "now":
                return wire(self._world.clock.now())
            case "query":
                return request.query_value(".".join(rest))
        return request.cause

    def _of_account(self, field: str) -> object:
        sender = self._request.sender
        account = self._world.state.accounts.get(sender.client_id) if sender is not None else None
        value = getattr(account, field, None)
        return money.write(value) if value is not None and field == "balance" else value

    def _of_name(self, text: str, field: str) -> object:
        name, state = well_formed(text), self._world.state
        if name is None:
            return None
        if field in NAME_FIELDS:
            return NAME_FIELDS[field](state, name)
        order = relevant_order(state, self._request.sender, name)
        return ORDER_FIELDS[field](state, order) if order is not None else None


def _within(value: object, keys: Sequence[str]) -> object:
    """Return the part of a JSON value to which ``keys`` lead, or None if there is no such part."""
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value
