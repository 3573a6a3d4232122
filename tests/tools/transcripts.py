"""Transcripts recorded from a sandbox that plays a real service."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from reseller_sandbox import Sandbox


class Recorder:
    """A client that records its requests and the responses."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.entries: list[dict[str, Any]] = []

    def __call__(
        self,
        method: str,
        target: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        account: str = "main",
    ) -> None:
        """Send a request, and record the exchange. The account is recorded if it is not main."""
        raw = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json"} if raw else {}
        sent |= headers or {}
        response = self.sandbox.client(account).open(target, method=method, data=raw, headers=sent)
        if account != "main":
            sent["x-svc-apikey"] = self.sandbox.accounts[account].key
        self.entries.append(
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
        """Send one request after another. A string is a time to wait."""
        for request in requests:
            if isinstance(request, str):
                self.sandbox.clock.advance(request)
            else:
                self(*request)

    def write(self, file: Path) -> Path:
        file.write_text(json.dumps({"log": {"entries": self.entries}}))
        return file
