"""A sandbox: the powers over one world put together, in this process or of a server elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from datetime import datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from flask import Flask
from flask.testing import EnvironBuilder, FlaskClient

from reseller_sandbox.assembly import assemble, open_worlds, server_of, vocabulary
from reseller_sandbox.core.clock import instant_given
from reseller_sandbox.core.model import Account
from reseller_sandbox.core.spelling import nearest
from reseller_sandbox.inworld import InWorld
from reseller_sandbox.powers.advice import Advice
from reseller_sandbox.powers.assumptions import Assumptions
from reseller_sandbox.powers.catalogue import POWERS
from reseller_sandbox.powers.clock import Clock
from reseller_sandbox.powers.events import Events
from reseller_sandbox.powers.here import Here
from reseller_sandbox.powers.journal import Journal
from reseller_sandbox.powers.ledger import Ledger
from reseller_sandbox.powers.outside import Outside
from reseller_sandbox.powers.plans import Plans
from reseller_sandbox.powers.power import Door
from reseller_sandbox.powers.registry import Accounts, Contacts, Customers, Hosts, Names, Transfers
from reseller_sandbox.remote import There
from reseller_sandbox.settings import Settings, configured
from reseller_sandbox.v3.signing import signed_headers
from reseller_sandbox.worlds import Fork, World
from reseller_sandbox.worlds.faults import Faults

if TYPE_CHECKING:
    from reseller_sandbox.server.server import Server


#: What only a sandbox in this process has.
_OWN = ("app", "settings", "world", "engine")


class Sandbox(InWorld):
    """The reseller API in this process, with a world of its own.

    >>> sandbox = Sandbox()
    >>> sandbox.client().get("/v3/balance").json[0]["balance"]
    '10000.00'

    Takes the fields of ``Settings``, and refuses with ``BadSetting`` alone. The clock stands still unless
    ``frozen`` is False or the fixture says so.
    """

    @configured(Settings)
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.engine = open_worlds(settings, frozen=True)
        self.app: Flask = assemble(self.engine, settings)
        self._hold(self.engine.default)

    @classmethod
    def through(cls, door: Door) -> Self:
        """Return the sandbox of the world that ``door`` leads to."""
        made = cls.__new__(cls)
        made._enter(door)
        return made

    def __getattr__(self, name: str) -> Any:
        """Say that what a sandbox in this process has beside its powers is missing elsewhere."""
        if name in _OWN:
            raise AttributeError(f"{name} is there only for a sandbox in this process, not through a server")
        raise AttributeError(f"a sandbox has no {name!r}{nearest(name, (*POWERS, *_OWN))}")

    def _hold(self, world: World) -> None:
        """Act on ``world`` from now on, in this process."""
        self.world: World = world
        self._enter(Here(self.engine, world))
        self.faults = Faults(world, vocabulary())

    def _enter(self, door: Door) -> None:
        """Have every power over the world that ``door`` leads to."""
        self.door = door
        self.clock = Clock(door)
        self.names = Names(door)
        self.accounts = Accounts(door)
        self.customers = Customers(door)
        self.contacts = Contacts(door)
        self.hosts = Hosts(door)
        self.transfers = Transfers(door)
        self.outside = Outside(door)
        self.plans = Plans(door)
        self.assumptions = Assumptions(door)
        self.advice = Advice(door)
        self.events = Events(door)
        self.journal = Journal(door)
        self.ledger = Ledger(door)

    def fork(
        self,
        *,
        point: str = "now",
        fixture: str | Path | None = None,
        state: str | None = None,
        name: str | None = None,
        now: datetime | str | None = None,
        frozen: bool | None = None,
        assume: Mapping[str, object] | None = None,
        seed: str | None = None,
    ) -> Self:
        """A new world beside this one, in the same application, with credentials of its own.

        It is this world at ``point``, unless a ``fixture`` or the YAML of one (``state``) is given; the rest
        is as in ``Fork``. It is deleted by ``close``, or at the end of a ``with``.
        Refuses as ``Engine.fork`` does.
        """
        wanted = Fork(
            world=self.world,
            point=point,
            fixture=fixture,
            state=state,
            name=name,
            now=instant_given(now) if isinstance(now, str) else now,
            frozen=frozen,
            assume=assume,
            seed=seed,
        )
        forked = copy(self)
        forked._hold(self.engine.fork(wanted))
        return forked

    def close(self) -> None:
        """Delete this world, if it is a fork that is still there; give up the connection to a server."""
        if isinstance(self.door, There):
            self.door.close()
            return
        if self.world is not self.engine.default and self.engine.get(self.world.name) is self.world:
            self.engine.drop(self.world.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def account(self, name: str = "main") -> Account:
        """The account of that name as it is now; raises KeyError when the fixture has none."""
        accounts = self.world.state.accounts
        for number in sorted(accounts):
            if accounts[number].name == name:
                return accounts[number]
        raise KeyError(f"the world has no account {name!r}")

    def client(self, account: str = "main") -> SignedClient:
        """A Flask test client whose requests carry the credentials of ``account``."""
        token_header = self.world.assumptions.token_headers[0]
        return SignedClient(self.app, self.account(account), self.settings.header_prefix, token_header)

    def reset(self, *, original: bool = False) -> None:
        """Take the world back to how it began: names, money, counters and clock.

        Where it has loaded a fixture, that is the fixture's beginning, or with ``original`` its own.
        """
        self.world.reset(original=original)

    @contextmanager
    def serve(self, host: str = "127.0.0.1", port: int = 0) -> Iterator[Server]:
        """This sandbox on a real port while the context lasts; answers the server, which has a ``url``.

        Raises ``CannotListen``, and ``BadSetting`` for an address that others can reach while the control
        interface has neither a token nor the word that it needs none.
        """
        with server_of(self.app, self.settings, host, port) as server:
            yield server


def connect(
    url: str = "http://127.0.0.1:8053",
    *,
    world: str = "",
    control_token: str | None = None,
    timeout: float = 60.0,
) -> Sandbox:
    """Return the sandbox that a server at ``url`` holds, with every power and the same answers and refusals.

    It acts on the ``world`` of that name, or on the default one. ``control_token`` is what the server wants
    of requests to its control interface, if anything; ``timeout`` is in seconds.
    """
    return Sandbox.through(There(url, world, control_token, timeout))


class SignedClient(FlaskClient):
    """A Flask test client that signs v3 requests and puts the token on v2.0 ones."""

    def __init__(self, app: Flask, account: Account, header_prefix: str, token_header: str) -> None:
        super().__init__(app, app.response_class, use_cookies=False)
        self.account = account
        self._prefix = header_prefix
        self._token_header = token_header

    def open(self, *args: Any, **kwargs: Any) -> Any:
        """Send a request, signed; takes what Flask's own test client takes."""
        options = {name: kwargs.pop(name) for name in ("buffered", "follow_redirects") if name in kwargs}
        builder = EnvironBuilder(self.application, *args, **kwargs)
        try:
            request = builder.get_request()
        finally:
            builder.close()
        body = request.get_data()
        url = f"{request.scheme}://{request.host}{request.environ['REQUEST_URI']}"
        headers = signed_headers(self.account.key, self.account.secret, self._prefix, url, body)
        for name, value in {**headers, self._token_header: self.account.token}.items():
            request.environ.setdefault(f"HTTP_{name.upper().replace('-', '_')}", value)
        request.environ["wsgi.input"] = BytesIO(body)
        return super().open(request, **options)
