"""The requests of a capsule sent again, each as it came."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from reseller_sandbox.capsule.secrets import spelt
from reseller_sandbox.capsule.steps import AsSent, RequestStep, WaitingStep
from reseller_sandbox.clients.caller import Caller, Reply, described
from reseller_sandbox.core.refusals import BODY_TOO_LARGE, INVALID_HOST, UNREAD
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.server.delivery import ENV_TOO_LARGE
from reseller_sandbox.server.messages import INCOMPLETE, Unread, Unserved
from reseller_sandbox.server.wsgi import environ_key
from reseller_sandbox.v3.signing import signed_headers, signed_url
from reseller_sandbox.web.context import ENV_WORLD
from reseller_sandbox.web.pipeline import TAKES_UNREAD
from reseller_sandbox.worlds import Entry

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


class Resending:
    """Sends requests to the world of ``sandbox``; ``is_default`` is whether credentials alone chose it."""

    def __init__(self, sandbox: Sandbox, is_default: bool) -> None:
        self._sandbox = sandbox
        self._caller = Caller(sandbox)
        self._chosen = "" if is_default else sandbox.world.name
        self._waiting: dict[str, Callable[[], Reply]] = {}

    def arrive(self, step: WaitingStep) -> None:
        """Send a request that is to wait; where it does not, it takes effect at once."""
        reply = self._caller.take(lambda: self._environ(step.sent, ""))
        if reply.again is not None:
            self._waiting[step.waits] = reply.again

    def request(self, step: RequestStep) -> Entry | None:
        """Send a request, or let one take effect that waits; return what the journal has of it."""
        if step.came.outcome in UNREAD and step.sent is not None:
            self._sandbox.app.extensions[TAKES_UNREAD](_unread(step))
        elif step.sent is not None:
            sent = step.sent
            reply = self._caller.take(lambda: self._environ(sent, step.came.outcome))
            while reply.again is not None:
                reply = reply.again()
        elif (go_on := self._waiting.pop(step.waits or "", None)) is not None:
            go_on()
        entries = self._sandbox.world.journal.entries
        return next((one for one in reversed(entries) if one.id == step.id), entries[-1] if entries else None)

    def _environ(self, sent: AsSent, outcome: str) -> WSGIEnvironment:
        target = _raw(sent.target)
        headers = [(_raw(spelt(name)), _raw(value)) for name, value in sent.headers]
        nowhere = b"host" not in dict(headers) and outcome != INVALID_HOST.code
        version = "1.0" if nowhere else "1.1"
        environ = described(sent.method, sent.scheme, sent.port, target, headers, sent.body, version)
        if sent.anew:
            self._sign(environ, sent)
        if self._chosen and not sent.target.startswith("/_worlds/"):
            environ[ENV_WORLD] = self._chosen
        if outcome == BODY_TOO_LARGE.code:
            environ[ENV_TOO_LARGE] = True
        return environ

    def _sign(self, environ: WSGIEnvironment, sent: AsSent) -> None:
        """Sign a request anew, as the assumptions want it, where its key is known."""
        world, prefix = self._sandbox.world, self._sandbox.settings.header_prefix
        key_name, signature_name = (environ_key(f"{prefix}{one}") for one in ("APIKEY", "SIGNATURE"))
        account = world.inherited.by_key(environ.get(key_name, ""), world.state)
        if account is None:
            return
        base = f"{sent.scheme}://{environ.get('HTTP_HOST', '')}"
        endpoint = signed_url(world.assumptions, base, sent.target)
        signed = signed_headers(account.key, account.secret, prefix, endpoint, sent.body)
        environ[signature_name] = signed[f"{prefix}SIGNATURE"]


def _raw(text: str) -> bytes:
    return text.encode("latin-1", "replace")


def _unread(step: RequestStep) -> Unread:
    """Return a request that the server could not read, with its problem as the answer told it."""
    assert step.sent is not None
    problem = INCOMPLETE
    with suppress(ValueError, KeyError, TypeError):
        told = json.loads(step.came.body)
        problem = Unserved(step.came.status, told["error"], told["message"])
    sent = step.sent
    return Unread(sent.method, sent.target, sent.headers, problem)
