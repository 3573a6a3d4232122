"""The environment of runs: a server, a prepared world to fork, and variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from msgspec import Struct

from reseller_sandbox.config_sources import variables
from reseller_sandbox.refusals import Refused
from reseller_sandbox.remote import AUTHORITY, URL, WORLD
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting

if TYPE_CHECKING:
    from reseller_sandbox.control.worlds import ForkOptions
    from reseller_sandbox.remote import HttpTransport

#: The variables with the credentials of the run's account. ``_NAME`` is appended for any other account.
KEY, SECRET, TOKEN = "RESELLER_SANDBOX_KEY", "RESELLER_SANDBOX_SECRET", "RESELLER_SANDBOX_TOKEN"

#: The variable with the file that a program can write its orders to.
VIEW = "RESELLER_SANDBOX_VIEW"


class Ground(Struct, frozen=True):
    """The ``prepared`` world, and the URL, token and authority of its server."""

    prepared: Sandbox
    url: str = ""
    control_token: str | None = None
    authority: str | None = None

    def address(self, world: Sandbox) -> str:
        """Return the address of a world of this server for clients."""
        return f"{self.url}/_worlds/{world.transport.name}"

    @contextmanager
    def world(self, **options: Unpack[ForkOptions]) -> Iterator[Sandbox]:
        """Provide a fork of the prepared world for one run.

        All forks generate the same codes, because they have the same seed.
        """
        seed = self.prepared.worlds.get(self.prepared.transport.name).seed
        seeded: ForkOptions = {"seed": seed, **options}
        with closing(self.prepared.fork(**seeded)) as fork:
            yield fork

    def environment(self, world: Sandbox, account: str, view: Path) -> dict[str, str]:
        """Return the variables for a run in ``world``.

        Raise ``BadSetting`` if the world has no such account.
        """
        environment = {URL: self.address(world), WORLD: world.transport.name, VIEW: str(view)}
        try:
            own = world.accounts.get(account)
        except Refused as refused:
            raise BadSetting(refused.message) from None
        named = {
            f"_{re.sub('[^A-Z0-9]', '_', each.name.upper())}": each for each in world.accounts.list().accounts
        }
        for suffix, record in {"": own, **named}.items():
            keys = {KEY: record.key, SECRET: record.secret, TOKEN: record.token}
            environment |= {f"{name}{suffix}": value for name, value in keys.items()}
        if self.control_token is not None:
            environment[variables()["control_token"]] = self.control_token
        if self.authority is not None:
            environment[AUTHORITY] = self.authority
        return environment


@contextmanager
def own_ground(settings: Mapping[str, Any]) -> Iterator[Ground]:
    """Provide a sandbox with these ``settings`` and a server for it in this process.

    Raise ``BadSetting`` and ``CannotListen``.
    """
    with closing(Sandbox(**settings)) as prepared, prepared.serve() as server:
        yield Ground(prepared, server.url, prepared.settings.control_token)


@contextmanager
def ground_at(server: HttpTransport) -> Iterator[Ground]:
    """Provide a fork of the current world of a running server.

    Later changes of that world have no effect. Raise ``Unreachable`` and ``Refused``.
    """
    with closing(Sandbox.through(server).fork()) as prepared:
        yield Ground(prepared, server.url, server.token, server.authority)
