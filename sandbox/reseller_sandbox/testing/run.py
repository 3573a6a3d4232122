"""The sandboxes of one test run: a seeded world for each set of settings, and a fork of it for each test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

import pytest

from reseller_sandbox.config_sources import around, over
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.core.signatures import declared
from reseller_sandbox.powers.worlds import ForkOptions
from reseller_sandbox.remote import Unreachable
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting, Settings
from reseller_sandbox.testing import aftermath
from reseller_sandbox.testing.marks import wanted
from reseller_sandbox.testing.modes import Mode
from reseller_sandbox.testing.watched import Watched, Watcher


@dataclass(frozen=True)
class _Seeded:
    """A seeded world, and the names of the faults that it was seeded with."""

    sandbox: Watched
    faults: tuple[str, ...]


class Sandboxes:
    """The worlds of a test run: fork one, seed it in a fixture of any scope, fork that again.

    ``folder`` is where a file with settings is looked for, ``kept`` where capsules of failed tests are left.
    """

    def __init__(self, mode: Mode, folder: Path, strict: frozenset[str], kept: Path | None) -> None:
        self.watcher = Watcher()
        self._mode = mode
        self._folder = folder
        self._strict = strict
        self._kept = kept
        self._stack = ExitStack()
        self._seeded: dict[str, _Seeded] = {}
        self._lent: Sandbox | None = None

    def fork(self, **wanted: Unpack[ForkOptions]) -> Sandbox:
        """Return a sandbox with a new world, seeded as the run says; takes what ``Worlds.fork`` takes.

        It goes with its ``with``, or with ``close``. Fork it again, and each fork begins where it stands.
        """
        return self.of().fork(**wanted)

    def of(self, **settings: Any) -> Sandbox:
        """Return the world that is forked for tests with these settings, the same one each time.

        Fork it rather than act in it. Takes what the mark takes; raise ``BadSetting``.
        """
        return self._begun(settings).sandbox

    @contextmanager
    def world_of(self, node: pytest.Item) -> Iterator[Sandbox]:
        """Provide the world of one test; end the test in one line where that cannot be."""
        if self._lent is not None:
            yield self._lent
            return
        with self.prepared(node) as made:
            yield made

    def prepared(self, node: pytest.Item) -> Sandbox:
        """Return a new world for a test; end the test in one line where that cannot be."""
        try:
            begun = self._begun(wanted(node, self._strict).settings)
            return begun.sandbox.fork(seed=node.nodeid)  # what is drawn in a test is the same in any order
        except (BadSetting, Unreachable, Refused) as problem:
            problem_told = str(problem)
        pytest.fail(f"the sandbox of this test: {problem_told}", pytrace=False)

    @contextmanager
    def apart(self, node: pytest.Item) -> Iterator[Sandbox]:
        """Provide a world to fork for each of the runs of a test; what a run has made goes with it."""
        self.watcher.end()
        prepared = self.prepared(node)
        try:
            yield prepared
        finally:
            prepared.close()
            self.watcher.begin()

    @contextmanager
    def lending(self, world: Sandbox) -> Iterator[None]:
        """Have the test that runs while the context lasts act in a world that somebody else looks after."""
        self._lent = world
        try:
            yield
        finally:
            self._lent = None

    @property
    def is_lent(self) -> bool:
        """Whether somebody else looks after the world of the test that runs."""
        return self._lent is not None

    def left_over(self, node: pytest.Item) -> list[str]:
        """Return a line for each thing that is left over in a test's worlds, and must not be."""
        try:
            asked = wanted(node, self._strict)
            if not asked.strict or self.is_lent:
                return []
            seeded = self._begun(asked.settings).faults
            worlds = self.watcher.concerned
            return [line for one in worlds for line in aftermath.left_over(one, asked.strict, seeded)]
        except BadSetting as problem:
            return [f"the sandbox of this test: {problem}"]

    def sections(self, node: pytest.Item) -> Iterator[tuple[str, str]]:
        """Yield a title and a text for each world that a failed test concerns."""
        for number, one in enumerate(self.watcher.concerned):
            name = _file_name(node) + (f"-{number + 1}" if number else "")
            file = self._kept / f"{name}.capsule" if self._kept is not None else None
            yield f"reseller sandbox: world {one.door.name}", aftermath.told(one, file)

    def folder_for(self, node: pytest.Item) -> Path | None:
        """Return where the capsules of a swept test are left."""
        return self._kept / _file_name(node) if self._kept is not None else None

    def end(self) -> None:
        """Give up every world and server of the run."""
        self.watcher.end()
        self._stack.close()

    def _begun(self, marked: Mapping[str, Any]) -> _Seeded:
        """Return the seeded world for what marks say; raise ``BadSetting`` or ``Unreachable``."""
        key = repr(sorted(marked.items()))
        if key not in self._seeded:
            told = over(around(declared(Settings), self._folder), marked)
            made = self._mode(self._stack, self.watcher, told, marked)
            self.watcher.shares(made)
            self._seeded[key] = _Seeded(made, tuple(one.name for one in made.faults.list().faults))
        return self._seeded[key]


def _file_name(node: pytest.Item) -> str:
    return re.sub(r"[^\w.-]+", "_", node.nodeid)[-100:]
