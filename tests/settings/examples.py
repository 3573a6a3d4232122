"""For every setting a value that is taken and one that is refused, as Python and TOML have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any


@dataclass(frozen=True)
class Example:
    """One setting: ``reads`` is what ``good`` comes to, where that is another value."""

    name: str
    good: Any
    bad: Any
    reads: Any = None

    def __str__(self) -> str:
        return self.name

    @property
    def read(self) -> Any:
        """What the settings have in the end."""
        good = tuple(self.good) if isinstance(self.good, list) else self.good
        return good if self.reads is None else self.reads

    @property
    def bad_in_words(self) -> bool:
        """Whether words can be wrong as well: a path is right whatever it says, and a switch has no value."""
        return isinstance(self.bad, str | list | dict) or type(self.good) in (int, float)


EXAMPLES = (
    Example("host", "localhost", "two words"),
    Example("port", 9053, 70_000),
    Example("tls", True, "perhaps"),
    Example("tls_port", 9443, 70_000),
    Example("tls_names", ["api.example.com", "*.example.net", "sandbox", "192.0.2.1"], ["no/name"]),
    Example("tls_folder", "certificates", 3),
    Example("certfile", "cert.pem", 3),
    Example("keyfile", "key.pem", 3),
    Example("quiet", True, "perhaps"),
    Example("log", "json", "jsn"),
    Example("ready_file", "ready.json", 3),
    Example("watch", True, "perhaps"),
    Example("keep", "worlds.kept", 3),
    Example("fixture", "empty", "emty"),
    Example("now", "2030-01-31T12:00:00Z", "yesterday", datetime(2030, 1, 31, 12, tzinfo=UTC)),
    Example("frozen", True, "perhaps"),
    Example("seed", "mine", "two\nlines"),
    Example("assume", {"v3.ids": "integer"}, {"v3.idz": "integer"}),
    Example("profile", "observed", "observd"),
    Example("public_urls", ["https://a.example", "http://b.example:81"], ["a.example"]),
    Example("header_prefix", "X-ACME-", "X_ACME_"),
    Example("token_headers", ["X-Token", "X-Auth-Token"], ["X_Token"]),
    Example("max_body", 1000, 0),
    Example("max_control_body", 2000, 0),
    Example("max_connections", 5, 0),
    Example("control_token", "a-token", "two words"),
    Example("control_open", True, "perhaps"),
    Example("shard", "s3", "three"),
    Example("max_worlds", 2, 0),
    Example("world_idle", 1.5, -1),
    Example("journal", 3, -1),
    Example("journal_body", 4, -1),
    Example("max_branches", 5, -1),
    Example("max_events", 6, -1),
    Example("max_snapshots", 7, -1),
    Example("max_faults", 8, -1),
)


def words(value: Any) -> list[str]:
    """A value as words: one for each item of a list, NAME=VALUE for each pair."""
    if isinstance(value, Mapping):
        return [f"{name}={item}" for name, item in value.items()]
    return [str(item).lower() if isinstance(item, bool) else str(item) for item in _items(value)]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
