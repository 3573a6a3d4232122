"""Whose token a request carries."""

from __future__ import annotations

from reseller_sandbox.core.model import Account
from reseller_sandbox.core.refusals import TOKEN_MISSING, UNKNOWN_TOKEN, Refused
from reseller_sandbox.web.generation import Incoming
from reseller_sandbox.worlds import World, Worlds

HEADER = "X-Auth-Token"


def find(incoming: Incoming, worlds: Worlds) -> tuple[World, Account] | None:
    """The account whose token the request carries, and its world: the one in the path, if it names one."""
    token = incoming.headers.get(HEADER, "")
    if not token:
        return None
    if incoming.world is None:
        return worlds.by_token(token)
    client_id = incoming.world.state.account_by_token.get(token)
    return None if client_id is None else (incoming.world, incoming.world.state.accounts[client_id])


def refusal(incoming: Incoming) -> Refused:
    """Why a request whose account was not found is not let in."""
    if incoming.headers.get(HEADER):
        return Refused(UNKNOWN_TOKEN)
    return Refused(TOKEN_MISSING, header=HEADER)
