"""Plays the rest of the world over the control interface; its answers are held against its document."""

from __future__ import annotations

import json
from typing import Any

from tests.clients import JSON, Answer, Transport
from tests.documented import document


class Player:
    """A client of the control interface."""

    def __init__(self, transport: Transport, prefix: str = "") -> None:
        self._transport = transport
        self._prefix = f"{prefix}/_sandbox"

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request; the document must allow the answer."""
        raw = b"" if body is None else json.dumps(body).encode()
        answer = self._transport(method, f"{self._prefix}{path}", [JSON], raw)
        document("control").check(method, f"/_sandbox{path}", answer)
        return answer

    def get(self, path: str) -> Any:
        """What a GET answers, which must be well."""
        return self._well(self.call("GET", path))

    def act(self, action: str, **told: Any) -> Any:
        """What an action of the other side answers, which must be well."""
        return self._well(self.call("POST", f"/outside/{action}", told))

    def refused(self, action: str, **told: Any) -> str:
        """The error of an action that is refused."""
        answer = self.call("POST", f"/outside/{action}", told)
        assert answer.status == 503 if answer.error == "zone_out_of_service" else 400 <= answer.status < 500
        assert answer.message
        return str(answer.error)

    def advance(self, **how: Any) -> Any:
        """What an advance of the clock answers, which must be well."""
        return self._well(self.call("POST", "/clock/advance", how))

    def plans(self) -> list[Any]:
        """Every plan."""
        return list(self.get("/plans")["plans"])

    @staticmethod
    def _well(answer: Answer) -> Any:
        assert answer.status == 200, answer.raw
        return answer.json
