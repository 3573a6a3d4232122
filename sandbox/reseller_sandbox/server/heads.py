"""The head of a request as the bytes that came, where the parser would not take it as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reseller_sandbox.core.dataclass import dataclass
from reseller_sandbox.server.problem import Unserved

_RAW = re.compile(rb"[\x80-\xff]")
_REQUEST_LINE = re.compile(r"(?P<method>[A-Za-z-]{1,20})(?: +(?P<target>.*?))?? *(?:HTTP/[0-9.]*)?$")
#: What a TLS client says first.
_TLS = b"\x16\x03"


@dataclass(frozen=True, slots=True)
class Unread:
    """A request that did not reach the application, and the ``problem`` that kept it from that.

    ``method``, ``target`` and ``headers`` are what can be told of it: empty where nothing came, or nothing
    that looks like one. A line that is no header is a name without a value.
    """

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    problem: Unserved

    @classmethod
    def of(cls, head: bytes, problem: Unserved) -> Unread:
        """Take apart a ``head`` that may break off anywhere."""
        first, *lines = head.decode("latin-1").splitlines() or [""]
        found = _REQUEST_LINE.match(first)
        if found is None:
            return cls("", "", (), problem)
        return cls(found["method"], found["target"] or "", tuple(_headers(lines)), problem)


def _headers(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        name, mark, value = line.partition(":")
        if line.strip():
            yield (name.strip(), value.strip()) if mark else (line.split()[0], "")


def escaped(line: bytes) -> bytes:
    """Return a request line with the bytes percent-encoded that clients send and the parser refuses."""
    return line if line.isascii() else _RAW.sub(lambda raw: b"%%%02X" % raw[0][0], line)


#: The header by which a client asks to go on in another protocol, and what the parser is told in its place:
#: it would take no body after it, and no further request.
_UPGRADE, _PASSED_OVER = b"upgrade:", b"upgrade_"


def without_upgrade(line: bytes) -> tuple[bytes, bytes]:
    """Return a header's ``line`` without the wish to upgrade, and what of it to keep until there is more."""
    name = line[: len(_UPGRADE)].lower()
    if name == _UPGRADE:
        return _PASSED_OVER + line[len(_UPGRADE) - 1 :], b""
    return (b"", line) if _UPGRADE.startswith(name) else (line, b"")


def raw_target(line: bytes, target: bytes) -> bytes:
    """Return the target as it was sent in a request ``line``; ``target`` is what the parser made of it."""
    return target if line.isascii() else line.split()[1]


def is_tls(head: bytes | bytearray) -> bool:
    """Whether somebody speaks TLS here, as far as the bytes that have come tell."""
    return head[: len(_TLS)] == _TLS[: max(len(head), 1)]
