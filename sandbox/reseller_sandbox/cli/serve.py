"""The server of the command line: what it says, where it is found, what it logs and what it watches."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reseller_sandbox import app_factory
from reseller_sandbox.cli.banner import banner
from reseller_sandbox.cli.base import PROGRAM, log_on_standard_error, say
from reseller_sandbox.cli.fixture_watcher import Watch, watching
from reseller_sandbox.config_sources import misspelt
from reseller_sandbox.server.collector import begin_serving, without_collections
from reseller_sandbox.server.log import AsJson, LoggedRequest, as_json, as_text
from reseller_sandbox.server.server import Server
from reseller_sandbox.settings import BadSetting, ServerSettings

if TYPE_CHECKING:
    from reseller_sandbox.keeping.keeper import KeptFile
    from reseller_sandbox.server.log import LogWriter
    from reseller_sandbox.worlds.kept import KeptWorlds, Relived


def serve(settings: ServerSettings, worlds_there: KeptWorlds | None = None, source: str = "") -> None:
    """Serve until a signal ends that; raise ``BadSetting`` and ``CannotListen``.

    The worlds are those ``worlds_there``, which come from a ``source``, or begin as the settings say.
    """
    for stranger in misspelt():
        click.echo(f"{PROGRAM}: {stranger}", err=True)
    tls = app_factory.tls_of(settings)
    with ExitStack() as stack:
        keeping = None if settings.keep is None else stack.enter_context(_kept_file(settings.keep))
        kept = None if keeping is None else keeping.found()
        if kept is not None and worlds_there is not None:
            raise BadSetting(f"keep: {settings.keep} has worlds already; those of {source} need another file")
        with without_collections():
            watch = Watch(settings) if settings.watch else None
            worlds = app_factory.open_worlds(
                settings, frozen=False, kept=worlds_there or kept, relive=_relive
            )
            app = app_factory.assemble(worlds, settings)
        file = stack.enter_context(ready_file(settings.ready_file))
        server = stack.enter_context(app_factory.server_of(app, settings, settings.host, settings.port, tls))
        stack.enter_context(server.heeding_signals())
        say(banner(worlds.default, server, source or str(settings.fixture), settings.header_prefix))
        in_json = settings.log == "json"
        log = stack.enter_context(log_on_standard_error(AsJson() if in_json else None))
        begin_serving()
        if log is not None and not settings.quiet:
            server.log = partial(log_line, log, in_json)
        if keeping is not None:
            say(f"  Worlds are kept in {keeping.path}: {len(worlds)} by now.")
            stack.enter_context(keeping.keeping(worlds, is_saved=kept is not None))
        if watch is not None:
            stack.enter_context(watching(watch, worlds))
        server.run(None if file is None else lambda: file.write(server))


def log_line(log: LogWriter, in_json: bool, line: LoggedRequest) -> None:
    """Log a request: people do not read of what the page in their browser looks at by itself."""
    if in_json:
        log.write(as_json(line))
    elif not line.said.is_look:
        log.write(as_text(line))


def _relive(capsule: bytes) -> Relived:
    from reseller_sandbox.sandbox import relive  # loaded for those who open recordings

    return relive(capsule)


def _kept_file(path: str) -> KeptFile:
    from reseller_sandbox.keeping.keeper import KeptFile  # loaded for those who keep worlds

    return KeptFile(path)


class ReadyFile:
    """A file that is there while a server listens, and says in JSON where that is and which process it is."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def write(self, server: Server) -> None:
        """Write the file; it is whole whenever somebody reads it."""
        told = {
            "url": server.url,
            "tls_url": server.tls_url or None,
            "authority": server.authority,
            "pid": os.getpid(),
        }
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        draft.write_text(json.dumps(told) + "\n", "utf-8")
        draft.replace(self._path)

    def remove(self) -> None:
        """Remove the file, if it is there."""
        self._path.unlink(missing_ok=True)


@contextmanager
def ready_file(path: str | None) -> Iterator[ReadyFile | None]:
    """Yield the file that is to say where a server is; it is gone before and afterwards.

    Raise ``BadSetting`` where there cannot be one.
    """
    if path is None:
        yield None
        return
    file = ReadyFile(path)
    try:
        file.remove()
        if not Path(path).parent.is_dir():
            raise FileNotFoundError(0, "there is no such folder")
    except OSError as problem:
        raise BadSetting(f"--ready-file {path} cannot be written: {problem.strerror}") from None
    try:
        yield file
    finally:
        file.remove()
