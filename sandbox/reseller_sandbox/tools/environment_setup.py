"""Where runs take place: a server, a prepared world to fork, and the variables that lead a program there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from msgspec import Struct

from reseller_sandbox.config_sources import variables
from reseller_sandbox.registry.refusals import Refused
from reseller_sandbox.remote import AUTHORITY, URL, WORLD
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting

if TYPE_CHECKING:
    from reseller_sandbox.control.worlds import ForkOptions
    from reseller_sandbox.remote import HttpTransport

#: The variables with the credentials of an account; with ``_NAME`` behind, of the account of that name.
KEY, SECRET, TOKEN = "RESELLER_SANDBOX_KEY", "RESELLER_SANDBOX_SECRET", "RESELLER_SANDBOX_TOKEN"

#: The variable with the file that a program may write its orders to.
VIEW = "RESELLER_SANDBOX_VIEW"


class Ground(Struct, frozen=True):
    """The ``prepared`` world, and its server: the ``url``, and the token and authority that clients need."""

    prepared: Sandbox
    url: str = ""
    control_token: str | None = None
    authority: str | None = None

    def address(self, world: Sandbox) -> str:
        """Return the address of a world of this server for clients."""
        return f"{self.url}/_worlds/{world.transport.name}"

    @contextmanager
    def world(self, **wanted: Unpack[ForkOptions]) -> Iterator[Sandbox]:
        """Provide a fork of the prepared world for one run; it draws the same codes as every other fork."""
        seed = self.prepared.worlds.get(self.prepared.transport.name).seed
        given: ForkOptions = {"seed": seed, **wanted}
        with closing(self.prepared.fork(**given)) as made:
            yield made

    def environment(self, world: Sandbox, account: str, view: Path) -> dict[str, str]:
        """Return the variables for a run in ``world``; raise ``BadSetting`` if it has no such account."""
        found = {URL: self.address(world), WORLD: world.transport.name, VIEW: str(view)}
        try:
            own = world.accounts.get(account)
        except Refused as refused:
            raise BadSetting(refused.message) from None
        named = {
            f"_{re.sub('[^A-Z0-9]', '_', one.name.upper())}": one for one in world.accounts.list().accounts
        }
        for suffix, one in {"": own, **named}.items():
            keys = {KEY: one.key, SECRET: one.secret, TOKEN: one.token}
            found |= {f"{name}{suffix}": value for name, value in keys.items()}
        if self.control_token is not None:
            found[variables()["control_token"]] = self.control_token
        if self.authority is not None:
            found[AUTHORITY] = self.authority
        return found


@contextmanager
def own_ground(settings: Mapping[str, Any]) -> Iterator[Ground]:
    """Provide a sandbox with these ``settings`` and a server for it in this process.

    Raise ``BadSetting`` and ``CannotListen``.
    """
    with closing(Sandbox(**settings)) as prepared, prepared.serve() as server:
        yield Ground(prepared, server.url, prepared.settings.control_token)


@contextmanager
def ground_at(server: HttpTransport) -> Iterator[Ground]:
    """Provide the world of a running server as it is now; later changes of that world have no effect.

    Raise ``Unreachable`` and ``Refused``.
    """
    with closing(Sandbox.through(server).fork()) as prepared:
        yield Ground(prepared, server.url, server.token, server.authority)
