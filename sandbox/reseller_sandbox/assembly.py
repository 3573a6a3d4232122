"""Putting a sandbox together: a fixture becomes a world, worlds become an application."""

from __future__ import annotations

from flask import Flask

from reseller_sandbox import fixture
from reseller_sandbox.control.interface import Control
from reseller_sandbox.core.assumptions import profile
from reseller_sandbox.core.clock import Clock
from reseller_sandbox.core.words import Vocabulary
from reseller_sandbox.settings import Settings
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.auth import Signatures
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.app import create_app
from reseller_sandbox.web.gate import Gate
from reseller_sandbox.web.limits import BodyLimits
from reseller_sandbox.worlds import DEFAULT, Engine, Fixtures, Moment, World


def open_world(settings: Settings, *, frozen: bool) -> World:
    """The default world as the settings want it; ``frozen`` counts where neither they nor the fixture say.

    Raises ``FixtureError`` for a bad fixture and
    ``BadAssumption`` for a bad assumption or profile.
    """
    seed = fixture.load(
        fixture.find(str(settings.fixture)), now=settings.now, seed=settings.seed, words=vocabulary()
    )
    assumed = profile(settings.profile).with_values(seed.assume).with_values(settings.assume)
    wanted = next((choice for choice in (settings.frozen, seed.frozen) if choice is not None), frozen)
    clock = Clock(seed.now) if wanted else Clock(seed.now).run()
    first = Moment(seed.state, clock, assumed, seed.requests, seed.faults)
    return World(DEFAULT, first, settings.limits)


def open_worlds(settings: Settings, *, frozen: bool) -> Engine:
    """The default world, and the means to fork it; raises as ``open_world`` does."""
    base = profile(settings.profile).with_values(settings.assume)
    still = frozen if settings.frozen is None else settings.frozen
    fixtures = Fixtures(base, still, str(settings.fixture), vocabulary())
    return Engine(open_world(settings, frozen=frozen), fixtures)


def operations() -> tuple[str, ...]:
    """The ids of the operations that clients call, v3's first."""
    return tuple(endpoint.id for endpoint in (*V3.endpoints, *V2.endpoints))


def vocabulary() -> Vocabulary:
    """The words that faults may use: what clients can call, and what those calls can be answered with."""
    errors = {interface.name: interface.known_errors for interface in (V3, V2)}
    return Vocabulary(frozenset(operations()), errors)


def body_limits(settings: Settings) -> BodyLimits:
    """Return how large the bodies of requests may be."""
    return BodyLimits(settings.max_body, settings.max_control_body)


def assemble(worlds: Engine, settings: Settings) -> Flask:
    """The application that serves every interface over ``worlds``.

    Raises ``Unguarded`` for a control token that is none.
    """
    signatures = Signatures(settings.header_prefix, settings.public_urls)
    gate = Gate(token=settings.control_token, open=settings.control_open, public_urls=settings.public_urls)
    interfaces = (V3(worlds, signatures), V2(worlds))
    control = Control(worlds, interfaces, vocabulary(), gate)
    return create_app(worlds, (*interfaces, control), body_limits(settings))
