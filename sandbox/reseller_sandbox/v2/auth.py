"""Finds the account of a token in the headers that its world accepts."""

from __future__ import annotations

from reseller_sandbox.refusals import TOKEN_MISSING, UNKNOWN_TOKEN, Refused
from reseller_sandbox.registry.model import Account
from reseller_sandbox.server.secrecy import key_masked
from reseller_sandbox.web.access_control import HEADER as CONTROL_HEADER
from reseller_sandbox.web.context import RequestContext
from reseller_sandbox.worlds import Engine, World

#: The header of the contract. Further headers are an assumption.
HEADER = "X-Auth-Token"

#: Words in the names of headers that a client may use for a token.
_ALIKE = ("token", "auth")
_MOST_ALIKE = 3


def find(request: RequestContext, worlds: Engine) -> tuple[World, Account] | None:
    """Return the world and the account of the request's token, or None."""
    holder = _holder(request.headers.get(HEADER, ""), HEADER, request, worlds)
    if holder is not None:
        return holder
    holders = (_holder(token, name, request, worlds) for name, token in request.headers.items())
    return next(filter(None, holders), None)


def refusal(request: RequestContext, worlds: Engine) -> Refused:
    """Return the refusal of a request without a valid token.

    If an account owns the rejected token, record the account as the sender of ``request``.
    """
    accepted = (request.world or worlds.default).assumptions.token_headers
    if accepted != (HEADER,):
        request.relied_on.add("token_headers")
    token = next(filter(None, map(request.headers.get, accepted)), None)
    if token is not None:
        rejection = worlds.rejection(token, request.world)
        request.recognise(rejection.sender)
        return Refused(UNKNOWN_TOKEN, token=key_masked(token), reason=rejection.reason)
    return Refused(TOKEN_MISSING, header=" or ".join(accepted), instead=_instead(request))


def _holder(token: str, name: str, request: RequestContext, worlds: Engine) -> tuple[World, Account] | None:
    """Return the account of ``token`` if its world accepts tokens in header ``name``."""
    if not token:
        return None
    world = request.world
    if world is None:
        holder = worlds.by_token(token)
    else:
        account = world.inherited.by_token(token, world.state)
        holder = None if account is None else (world, account)
    accepted = holder[0].assumptions.token_headers if holder is not None else ()
    if name not in accepted and name.lower() not in map(str.lower, accepted):
        return None
    if name.lower() != HEADER.lower():
        request.relied_on.add("token_headers")
    return holder


def _instead(request: RequestContext) -> str:
    """Return a hint to similar headers, and the options that accept them."""
    names = [name for name, _ in request.headers.items() if any(word in name.lower() for word in _ALIKE)]
    names = [name for name in names if name.lower() != CONTROL_HEADER.lower()][:_MOST_ALIKE]
    if not names:
        return ""
    settings = " ".join(f"--token-header {name}" for name in names)
    return f"; it carries {' and '.join(names)}, which {settings} would take"
