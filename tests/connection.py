"""A connection on which a test sends and receives bytes."""

from __future__ import annotations

import socket
import ssl
from typing import Self
from urllib.parse import urlsplit

from tests.clients import Answer
from tests.waiting import PATIENCE


class Connection:
    """A connected socket, plain or under TLS. The methods read no byte beyond what they return."""

    def __init__(self, connected: socket.socket) -> None:
        self.socket = connected
        self.socket.settimeout(PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @classmethod
    def to(cls, url: str, authority: str | None = None) -> Self:
        """Connect to the server at ``url``, under TLS if there is the file of a trusted ``authority``."""
        parts = urlsplit(url)
        connected = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)
        if authority is not None:
            trust, host = ssl.create_default_context(cafile=authority), str(parts.hostname)
            connected = trust.wrap_socket(connected, server_hostname=host, suppress_ragged_eofs=False)
        return cls(connected)

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def end(self) -> None:
        self.socket.shutdown(socket.SHUT_WR)

    def piece(self, most: int = 65536) -> bytes:
        """The next bytes. Raise ConnectionResetError for a reset: under TLS, an end without a farewell."""
        try:
            return self.socket.recv(most)
        except ssl.SSLEOFError as error:
            raise ConnectionResetError from error

    def head(self) -> tuple[int, dict[str, str]]:
        """Status and headers."""
        seen = b""
        while not seen.endswith(b"\r\n\r\n"):
            byte = self.piece(1)
            assert byte, f"the connection ended after {seen!r}"
            seen += byte
        first, *lines = seen.decode("latin-1").split("\r\n")
        return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in lines if line)

    def answer(self) -> Answer:
        status, headers = self.head()
        body = b""
        while left := int(headers["content-length"]) - len(body):
            piece = self.piece(left)
            assert piece, f"the connection ended after {body!r}"
            body += piece
        return Answer(status, headers, body)

    def rest(self) -> bytes:
        """All bytes until the connection ends. Raise ConnectionResetError if it ends by a reset."""
        return b"".join(iter(self.piece, b""))

    def refusal(self) -> tuple[int, str]:
        """Status and error of the answer by which the server ends the connection."""
        answer = self.answer()
        assert answer.headers["connection"] == "close"
        assert answer.json.keys() == {"error", "message"}
        assert self.rest() == b""
        return answer.status, str(answer.error)

    def silent(self, seconds: float) -> bool:
        """Whether no byte and no end comes for so long."""
        self.socket.settimeout(seconds)
        try:
            self.socket.recv(1)
        except TimeoutError:
            return True
        finally:
            self.socket.settimeout(PATIENCE)
        return False

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
