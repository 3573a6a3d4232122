"""Transcripts recorded from a sandbox: what a program would have seen of a service with other habits."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reseller_sandbox import Sandbox


class Recorder:
    """A client that keeps what it sends and receives."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.found: list[dict[str, Any]] = []

    def __call__(
        self,
        method: str,
        target: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        account: str = "main",
    ) -> None:
        """Send a request, and keep it with its response; the account is kept if it is not main."""
        raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json"} if raw else {}
        sent |= headers or {}
        response = self.sandbox.client(account).open(target, method=method, data=raw, headers=sent)
        if account != "main":
            sent["x-svc-apikey"] = self.sandbox.accounts[account].key
        self.found.append(
            {
                "startedDateTime": self.sandbox.clock.now.isoformat(),
                "request": {
                    "method": method,
                    "url": f"https://api.example.test{target}",
                    "headers": [{"name": name, "value": value} for name, value in sent.items()],
                    "postData": {"text": raw.decode()},
                },
                "response": {"status": response.status_code, "content": {"text": response.text}},
            }
        )

    def all(self, requests: Iterable[tuple[Any, ...] | str]) -> None:
        """Send one request after another; a text is a time to wait."""
        for one in requests:
            if isinstance(one, str):
                self.sandbox.clock.advance(one)
            else:
                self(*one)

    def write(self, file: Path) -> Path:
        file.write_text(json.dumps({"log": {"entries": self.found}}))
        return file
