"""Where runs take place: a server, and the prepared world that each of them gets a fork of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Unpack

from msgspec import Struct

from reseller_sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from reseller_sandbox.powers.worlds import ForkOptions
    from reseller_sandbox.remote import There


class Ground(Struct, frozen=True):
    """The ``prepared`` world, and its server: the ``url``, and what is needed to be let in."""

    prepared: Sandbox
    url: str = ""
    control_token: str | None = None
    authority: str | None = None

    def address(self, world: Sandbox) -> str:
        """Return where clients find a world of this server."""
        return f"{self.url}/_worlds/{world.door.name}"

    @contextmanager
    def world(self, **wanted: Unpack[ForkOptions]) -> Iterator[Sandbox]:
        """Provide a world for one run, which is the prepared one again and draws the same codes."""
        seed = self.prepared.worlds.get(self.prepared.door.name).seed
        given: ForkOptions = {"seed": seed, **wanted}
        with closing(self.prepared.fork(**given)) as made:
            yield made


@contextmanager
def own_ground(settings: Mapping[str, Any]) -> Iterator[Ground]:
    """Provide a sandbox with these ``settings`` and a server of it in this process.

    Raise ``BadSetting`` and ``CannotListen``.
    """
    with closing(Sandbox(**settings)) as prepared, prepared.serve() as server:
        yield Ground(prepared, server.url, prepared.settings.control_token)


@contextmanager
def ground_at(server: There) -> Iterator[Ground]:
    """Provide the world of a server that runs already, as it is now; whatever becomes of it meanwhile.

    Raise ``Unreachable`` and ``Refused``.
    """
    with closing(Sandbox.through(server).fork()) as prepared:
        yield Ground(prepared, server.url, server.token, server.authority)
