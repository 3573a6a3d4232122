"""Application factory: builds worlds from a fixture, and the Flask application that serves them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Flask
from werkzeug.exceptions import HTTPException

from reseller_sandbox import fixture
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.control.resource import Resource
from reseller_sandbox.registry.contract import Contract, JsonPlaces, Vocabulary
from reseller_sandbox.registry.model import DEFAULT
from reseller_sandbox.registry.shards import ALONE, Shard
from reseller_sandbox.server.secrecy import secrecy_of
from reseller_sandbox.server.server import Server
from reseller_sandbox.server.tls import BadCertificate, Certificate, Tls, certificate_of
from reseller_sandbox.settings import BadSetting, ServerSettings, Settings, profile_of
from reseller_sandbox.values.clock import instance_mark
from reseller_sandbox.values.kinds import INSTANT
from reseller_sandbox.web.access_control import require_guard
from reseller_sandbox.web.interface import Mount, endpoints_of, max_body
from reseller_sandbox.web.interfaces import PublicInterface, public_interfaces
from reseller_sandbox.web.pipeline import TAKES_UNREAD, create_app
from reseller_sandbox.worlds import Engine, Fixtures, Snapshot, World
from reseller_sandbox.worlds.fixtures import begun
from reseller_sandbox.worlds.world_dump import EngineDump, ReplayResult

if TYPE_CHECKING:
    from werkzeug.routing import Map

    from reseller_sandbox.web.interface import Interface


def initial_snapshot(
    settings: Settings, *, frozen: bool, reads: Callable[[Path], object] | None = None
) -> Snapshot:
    """Load the fixture of ``settings``, and return the initial snapshot of its world.

    ``frozen`` applies if neither the settings nor the fixture set it. ``reads`` is called with each file of
    the fixture. Raise ``BadSetting`` for an invalid fixture.
    """
    now = None if settings.now is None else INSTANT(settings.now)
    try:
        path = fixture.find(str(settings.fixture))
        seed = fixture.load(
            path, now=now, seed=settings.seed, words=vocabulary(tuple(settings.interfaces)), reads=reads
        )
    except fixture.FixtureError as problem:
        raise BadSetting(str(problem)) from problem
    assumed = settings.assumed_over(profile_of(str(settings.profile)).with_values(seed.assume))
    frozen = next((choice for choice in (settings.frozen, seed.frozen) if choice is not None), frozen)
    return begun(seed, assumed, frozen)


def open_worlds(
    settings: Settings,
    *,
    frozen: bool,
    dump: EngineDump | None = None,
    open_recording: Callable[[bytes], ReplayResult] | None = None,
) -> Engine:
    """Return an engine with the default world, or with the worlds in ``dump``.

    ``open_recording`` replays recordings. Raise ``BadSetting`` as ``initial_snapshot`` does.
    """
    base = settings.assumed_over(profile_of(str(settings.profile)))
    more = tuple(settings.interfaces)
    is_frozen = frozen if settings.frozen is None else settings.frozen
    fixtures = Fixtures(base, is_frozen, str(settings.fixture), vocabulary(more))
    shard = Shard(settings.shard, instance_mark()) if settings.shard else ALONE
    operations = partial(contract, more)
    if dump is None:
        opened = [World(DEFAULT, initial_snapshot(settings, frozen=frozen), settings)]
    else:
        opened = [world.opened(settings) for world in dump.worlds]
    worlds = Engine(opened[0], fixtures, operations, shard, open_recording, settings.header_prefix)
    if dump is not None:
        worlds.restore(dump, opened[1:])
    return worlds


@cache  # because the contract is the same for every world
def contract(more: tuple[str, ...] = ()) -> Contract:
    """Return all API operations with their documentation. ``more`` lists additional interfaces."""
    publics = public_interfaces(more)
    return tuple(operation for public in publics for operation in public.load().contract(public.label))


@cache  # because the vocabulary is the same for every world
def vocabulary(more: tuple[str, ...] = ()) -> Vocabulary:
    """Return the names of operations and errors for faults. ``more`` lists additional interfaces.

    These are the operations that clients call, and the errors that can answer them.
    """
    return Vocabulary(
        lambda: (operation.id for operation in contract(more)),
        lambda: {public.name: public.load().known_errors() for public in public_interfaces(more)},
        partial(_operation_at, more),
        partial(_places_of, more),
    )


def _operation_at(more: tuple[str, ...], method: str, path: str) -> str | None:
    """Return the id of the operation with this HTTP method and this path, or None."""
    try:
        return str(_contract_routes(more).bind("").match(path, method)[0])
    except HTTPException:
        return None


@cache
def _places_of(more: tuple[str, ...], operation: str) -> JsonPlaces:
    """Return the places in requests and answers of the operation with this id."""
    from reseller_sandbox.web.places import places_of

    interfaces = [public.load() for public in public_interfaces(more)]
    found = ((each, endpoint) for each in interfaces for endpoint in each.endpoints)
    return next(places_of(each, endpoint) for each, endpoint in found if endpoint.id == operation)


@cache
def _contract_routes(more: tuple[str, ...]) -> Map:
    from reseller_sandbox.web.application import route_map

    endpoints = (endpoint for public in public_interfaces(more) for endpoint in public.load().endpoints)
    return route_map(
        tuple((endpoint.id, rule, endpoint.method) for endpoint in endpoints for rule in endpoint.rules())
    )


def assemble(
    worlds: Engine, settings: Settings, resources: Mapping[str, type[Resource]] = RESOURCES
) -> Flask:
    """Return the Flask application that serves the API and the control ``resources``."""
    return create_app(worlds, mounts(worlds, settings, resources), settings)


def mounts(
    worlds: Engine, settings: Settings, resources: Mapping[str, type[Resource]] = RESOURCES
) -> tuple[Mount, ...]:
    """Return the mounts of all API interfaces, and of ``/_sandbox`` with the control ``resources``."""
    public = public_interfaces(tuple(settings.interfaces))

    def control() -> Interface:
        from reseller_sandbox.control_http.interface import Control
        from reseller_sandbox.manual import endpoints as manual
        from reseller_sandbox.page import calls, page_session, reader, signing
        from reseller_sandbox.page import endpoints as page

        more = endpoints_of(manual, page, calls, page_session, reader, signing)
        return Control(worlds, settings, resources, public, lambda: [m.interface for m in clients], more)

    clients = [
        Mount(declared.paths, declared.address, partial(_loaded, declared, worlds, settings))
        for declared in public
    ]
    return (*clients, Mount(r"/_sandbox(/|\Z)", "/_sandbox", control))


def _loaded(declared: PublicInterface, worlds: Engine, settings: Settings) -> Interface:
    return declared.load()(worlds, settings)


def tls_of(settings: ServerSettings) -> Tls | None:
    """Return the TLS options of the settings, or None for a server without TLS.

    By default the TLS port is the one after the plain port.
    """
    is_separate = settings.tls
    if is_separate is None:
        is_separate = settings.tls_port is not None or bool(settings.tls_names or settings.tls_folder)
    port = settings.tls_port if settings.tls_port is not None else settings.port and settings.port + 1
    if is_separate or settings.certfile is not None or settings.keyfile is not None:
        return Tls(
            port if is_separate else None,
            settings.certfile,
            settings.keyfile,
            settings.tls_names,
            settings.tls_folder,
        )
    return None


@contextmanager
def server_of(
    app: Flask, settings: Settings, host: str, port: int, tls: Tls | None = None
) -> Iterator[Server]:
    """Yield the server of an application, already bound to its ports.

    Raise ``CannotListen`` for an address that is not available. Raise ``BadSetting`` for an invalid
    certificate, and for an address that other machines can reach while the control interface is unguarded.
    """
    require_guard(host, settings.control_token, settings.control_open)
    try:
        with nullcontext(Certificate()) if tls is None else certificate_of(tls) as certificate:
            server = Server(
                app=app,
                host=host,
                port=port,
                certificate=certificate,
                tls_port=tls.port if tls is not None else None,
                max_body=partial(max_body, settings),
                limit_connections=settings.max_connections,
                keep_alive=settings.keep_alive,
                when_unread=app.extensions[TAKES_UNREAD],
                secrecy=secrecy_of(settings.secret_names),
            )
            try:
                yield server
            finally:
                server.stop()
    except BadCertificate as problem:
        raise BadSetting(str(problem)) from None
