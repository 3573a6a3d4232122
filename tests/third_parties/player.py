"""Acts as third parties over the control interface."""

from __future__ import annotations

from typing import Any

from tests.worlds.control import Control


class Player(Control):
    def act(self, action: str, **parameters: Any) -> Any:
        return self.post(f"simulate/{action}", parameters)

    def failure(self, action: str, **parameters: Any) -> str:
        """Return the error of an action that must be refused."""
        return self.refused("POST", f"simulate/{action}", parameters)[1]

    def advance(self, **parameters: Any) -> Any:
        return self.post("clock/advance", parameters)

    def scheduled(self) -> list[Any]:
        return list(self.get("scheduled")["scheduled"])
