"""Acts as third parties over the control interface, and checks each answer against its document."""

from __future__ import annotations

import json
from typing import Any

from tests.clients import JSON, Answer, Transport
from tests.documented import document


class Player:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request; the document must allow the answer."""
        raw = b"" if body is None else json.dumps(body).encode()
        answer = self._transport(method, f"/_sandbox{path}", [JSON], raw)
        document("control").check(method, f"/_sandbox{path}", answer)
        return answer

    def get(self, path: str) -> Any:
        return self._body(self.call("GET", path))

    def act(self, action: str, **parameters: Any) -> Any:
        return self._body(self.call("POST", f"/simulate/{action}", parameters))

    def refused(self, action: str, **parameters: Any) -> str:
        answer = self.call("POST", f"/simulate/{action}", parameters)
        assert answer.status == 503 if answer.error == "zone_out_of_service" else 400 <= answer.status < 500
        assert answer.message
        return str(answer.error)

    def advance(self, **parameters: Any) -> Any:
        return self._body(self.call("POST", "/clock/advance", parameters))

    def scheduled(self) -> list[Any]:
        return list(self.get("/scheduled")["scheduled"])

    @staticmethod
    def _body(answer: Answer) -> Any:
        assert answer.status == 200, answer.raw
        return answer.json
