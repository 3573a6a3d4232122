"""What a command that is run finds in its environment: where its world is, and who it is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from reseller_sandbox.config_sources import variables
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.remote import AUTHORITY, URL, WORLD
from reseller_sandbox.settings import BadSetting

if TYPE_CHECKING:
    from reseller_sandbox.sandbox import Sandbox
    from reseller_sandbox.tools.ground import Ground

#: What belongs to an account; with ``_NAME`` behind it, to the account of that name.
KEY, SECRET, TOKEN = "RESELLER_SANDBOX_KEY", "RESELLER_SANDBOX_SECRET", "RESELLER_SANDBOX_TOKEN"

#: A file that the program may write what it believes to have ordered to, see ``view``.
VIEW = "RESELLER_SANDBOX_VIEW"


def environment(ground: Ground, world: Sandbox, account: str, view: Path) -> dict[str, str]:
    """Return the variables for a run in ``world``, by ``account``; raise ``BadSetting`` if there is none."""
    accounts = world.accounts.list().accounts
    told = {URL: ground.address(world), WORLD: world.door.name, VIEW: str(view)}
    try:
        own = world.accounts.get(account)
    except Refused as refused:
        raise BadSetting(refused.message) from None
    for one, behind in ((own, ""), *((one, f"_{_capitals(one.name)}") for one in accounts)):
        told |= {f"{KEY}{behind}": one.key, f"{SECRET}{behind}": one.secret, f"{TOKEN}{behind}": one.token}
    if ground.control_token is not None:
        told[variables()["control_token"]] = ground.control_token
    if ground.authority is not None:
        told[AUTHORITY] = ground.authority
    return told


def _capitals(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", name.upper())
