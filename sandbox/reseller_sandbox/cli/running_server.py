"""Server of ``serve``, with its banner, ready file, log, state file and fixture watcher."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path

import click

from reseller_sandbox import app_factory
from reseller_sandbox.cli.banner import banner
from reseller_sandbox.cli.base import PROGRAM
from reseller_sandbox.cli.fixture_watcher import Watch, watching
from reseller_sandbox.config_sources import misspelt
from reseller_sandbox.persistence.state_file import SAVER, StateFile
from reseller_sandbox.refusals import Refused
from reseller_sandbox.remote import HttpTransport, Unreachable
from reseller_sandbox.sandbox import open_recording
from reseller_sandbox.server.log import AsJson, LoggedRequest, LogWriter, as_json, as_text, event_as_json
from reseller_sandbox.server.server import LONG_CALL, CannotListen, PortInUse, SecondSignal, Server
from reseller_sandbox.settings import BadSetting, ServerSettings
from reseller_sandbox.web.interfaces import public_interfaces
from reseller_sandbox.worlds.world_dump import EngineDump

#: Switch interval of threads in seconds. It is short because an event loop needs several turns per request.
TURN = 0.0005

#: Maximum time in seconds to write the remaining log lines after the server has stopped.
_LOG_GRACE = 0.5


def run(settings: ServerSettings, recorded: EngineDump | None = None, source: str = "") -> None:
    """Serve until a signal ends the server. Raise ``BadSetting`` and ``CannotListen``.

    The worlds are ``recorded``, which come from ``source``. Otherwise the settings define them. If the state
    file does not have the latest changes, exit with status 1.
    """
    saving = None
    for message in misspelt():
        click.echo(f"{PROGRAM}: {message}", err=True)
    tls = app_factory.tls_of(settings)
    with suppress(SecondSignal), ExitStack() as stack:
        state_file = settings.state_file and stack.enter_context(StateFile(settings.state_file))
        saved = state_file.found() if state_file else None
        if saved is not None and recorded is not None:
            raise BadSetting(
                f"--state-file {settings.state_file} already has worlds. Choose another file for {source}"
            )
        watch = Watch(settings) if settings.watch else None
        worlds = app_factory.open_worlds(
            settings, frozen=False, dump=recorded or saved, open_recording=open_recording
        )
        app = app_factory.assemble(worlds, settings)
        write_ready_file = stack.enter_context(_ready_file(settings.ready_file))
        try:
            server = stack.enter_context(
                app_factory.server_of(app, settings, settings.host, settings.port, tls)
            )
        except PortInUse as problem:
            raise CannotListen(_taken(problem.address, settings.port)) from None
        stack.enter_context(server.heeding_signals())
        in_json = settings.log == "json"
        fixture = None if saved is not None else source or str(settings.fixture)
        if not in_json:
            interfaces = public_interfaces(tuple(settings.interfaces))
            origin = f"worlds of {settings.state_file}" if fixture is None else f"fixture {fixture}"
            click.echo(banner(worlds.default, server, origin, settings.header_prefix, interfaces))
        log = stack.enter_context(_log_on_standard_error(AsJson() if in_json else None))
        if in_json and log is not None:
            urls = {"url": server.url, "tls_url": server.tls_url or None, "state_file": settings.state_file}
            log.write(event_as_json("started", {**urls, "fixture": fixture}))
            stack.callback(lambda: log.write(event_as_json("stopped", {})))
        sys.setswitchinterval(TURN)
        if log is not None and not settings.quiet:
            server.log = partial(_log_line, log, in_json)
        if state_file:
            if not in_json:
                click.echo(f"  Worlds are saved in {state_file.path}. Number of worlds: {len(worlds)}.")
            saving = stack.enter_context(state_file.keeping(worlds, is_saved=saved is not None))
        if watch is not None:
            stack.enter_context(watching(watch, worlds))
        server.run(lambda: write_ready_file(server))
    status = 0 if saving is None or saving.is_saved else 1
    if any(thread.name in (LONG_CALL, SAVER) for thread in threading.enumerate()):
        # The work of this thread counts no more. A thread that runs while Python ends can crash the process.
        os._exit(status)
    if status:
        sys.exit(status)


def _taken(address: str, port: int) -> str:
    """Return the message for an address in use. It says whether a sandbox answers at the address."""
    program = "another program"
    try:
        with closing(HttpTransport(f"http://{address}", timeout=1.0)) as other:
            program = f"another sandbox, whose clock shows {other.health()['now']}"
    except Refused:  # The other server requires a control token.
        program = "another sandbox"
    except (Unreachable, BadSetting):
        pass
    option = "--port" if address.endswith(f":{port}") else "--tls-port"
    return (
        f"{address} is in use by {program}. Stop that program, or give {option} N for another port (0 for "
        "any free port)"
    )


def _log_line(log: LogWriter, in_json: bool, line: LoggedRequest) -> None:
    """Log a request. Omit the page's own read requests from the text log."""
    if in_json:
        log.write(as_json(line))
    elif not line.words.is_read_only:
        log.write(as_text(line))


@contextmanager
def _ready_file(path: str | None) -> Iterator[Callable[[Server], None]]:
    """Yield a function that writes a server's URLs to the ready file. Remove the file at the end.

    Raise ``BadSetting`` if the file cannot be written.
    """
    if path is None:
        yield lambda _: None
        return
    file = Path(path)
    try:
        file.unlink(missing_ok=True)
        if not file.parent.is_dir():
            raise FileNotFoundError(0, "the folder does not exist")
    except OSError as problem:
        raise BadSetting(f"--ready-file {path} cannot be written: {problem.strerror}") from None

    def write(server: Server) -> None:
        addresses = {
            "url": server.url,
            "tls_url": server.tls_url or None,
            "authority": server.authority,
            "pid": os.getpid(),
        }
        draft = file.with_name(f".{file.name}.{os.getpid()}")
        draft.write_text(json.dumps(addresses) + "\n", "utf-8")
        draft.replace(file)  # Readers never see an incomplete file.

    try:
        yield write
    finally:
        file.unlink(missing_ok=True)


@contextmanager
def _log_on_standard_error(form: logging.Formatter | None) -> Iterator[LogWriter | None]:
    """Log to standard error while the context lasts. Log nothing if standard error is closed."""
    if sys.stderr is None:
        logging.basicConfig(handlers=[logging.NullHandler()])
        yield None
        return
    # Do not use sys.stderr itself: at exit, the interpreter would wait for the lock of its buffer.
    with open(sys.stderr.fileno(), "wb", buffering=0, closefd=False) as file:
        log = LogWriter(file, sys.stderr.encoding, form=form)
        logging.basicConfig(handlers=[log])
        try:
            yield log
        finally:
            log.end(_LOG_GRACE)
