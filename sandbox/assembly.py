"""Putting a sandbox together: a fixture becomes a world, worlds become an application."""

from __future__ import annotations

from flask import Flask

from sandbox import seeds
from sandbox.control.interface import Control
from sandbox.core.assumptions import profile
from sandbox.core.clock import Clock
from sandbox.settings import Settings
from sandbox.v3.auth import Signatures
from sandbox.v3.interface import V3
from sandbox.web.app import create_app
from sandbox.worlds import DEFAULT, World, Worlds


def open_world(settings: Settings, *, frozen: bool) -> World:
    """The default world as the settings want it; ``frozen`` counts where neither they nor the fixture say.

    Raises :class:`~sandbox.seeds.FixtureError` for a bad fixture and
    :class:`~sandbox.core.assumptions.BadAssumption` for a bad assumption or profile.
    """
    seed = seeds.load(seeds.find(str(settings.fixture)), now=settings.now, seed=settings.seed)
    assumed = profile(settings.profile).with_values(seed.assume).with_values(settings.assume)
    wanted = next((choice for choice in (settings.frozen, seed.frozen) if choice is not None), frozen)
    clock = Clock(seed.now)
    return World(DEFAULT, seed.state, clock if wanted else clock.run(), assumed)


def assemble(worlds: Worlds, settings: Settings) -> Flask:
    """The application that serves every interface over ``worlds``."""
    signatures = Signatures(settings.header_prefix, settings.public_urls)
    v3 = V3(worlds, signatures)
    return create_app(worlds, (v3, Control(worlds, (v3,))), settings.max_body)
