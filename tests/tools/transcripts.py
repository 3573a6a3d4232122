"""Transcripts recorded from a sandbox: what a program would have seen of a service with other habits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from reseller_sandbox import Sandbox
from reseller_sandbox.tools.calibrate.exchanges import ObservedExchange


class Recorder:
    """A client that keeps what it sends and gets; who asks is kept where it is not main."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.found: list[ObservedExchange] = []

    def __call__(
        self,
        method: str,
        target: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        account: str = "main",
    ) -> Any:
        """Send a request, and keep it with its answer; return the answer's body."""
        raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json"} if raw else {}
        sent |= headers or {}
        got = self.sandbox.client(account).open(target, method=method, data=raw, headers=sent)
        if account != "main":
            sent["x-svc-apikey"] = self.sandbox.accounts[account].key
        one = ObservedExchange(
            place=f"{len(self.found) + 1}: {method} {target}",
            method=method,
            target=target,
            headers=sent,
            body=raw,
            at=self.sandbox.clock.now,
            status=got.status_code,
            answer=got.json,
        )
        self.found.append(one)
        return got.json

    def all(self, requests: Iterable[tuple[Any, ...] | str]) -> None:
        """Send one request after another; where a text stands it waits for so long."""
        for one in requests:
            if isinstance(one, str):
                self.sandbox.clock.advance(one)
            else:
                self(*one)
