"""The environment of runs: a prepared world to fork, and variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from msgspec import Struct

from reseller_sandbox.refusals import Refused
from reseller_sandbox.remote import credentials_of
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting

if TYPE_CHECKING:
    from reseller_sandbox.control.worlds import ForkOptions
    from reseller_sandbox.remote import HttpTransport

#: The variable with the file that a program can write its orders to.
VIEW = "RESELLER_SANDBOX_VIEW"


class Ground(Struct, frozen=True):
    """The ``prepared`` world."""

    prepared: Sandbox

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
        try:
            return {**world.env, **credentials_of(world.accounts.get(account)), VIEW: str(view)}
        except Refused as refused:
            raise BadSetting(refused.message) from None


@contextmanager
def own_ground(settings: Mapping[str, Any]) -> Iterator[Ground]:
    """Provide a sandbox with these ``settings``, which serves a port of this machine.

    Raise ``BadSetting`` and ``CannotListen``.
    """
    with closing(Sandbox(**settings)) as prepared:
        yield Ground(prepared)


@contextmanager
def ground_at(server: HttpTransport) -> Iterator[Ground]:
    """Provide a fork of the current world of a running server.

    Later changes of that world have no effect. Raise ``Unreachable`` and ``Refused``.
    """
    with closing(Sandbox.through(server).fork()) as prepared:
        yield Ground(prepared)
