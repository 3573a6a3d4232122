"""As much of an engine for containers as a client needs to start one: what it starts is a process here."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: The name that every container of it has.
ID = "c0ffee" * 10 + "c0ff"


class Engine(ThreadingHTTPServer):
    """Listens as Docker does; remembers what it was asked to create and whether that was taken away."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: dict[str, Any] = {}
        self.process: subprocess.Popen[str] | None = None
        self.port = ""

    @property
    def address(self) -> str:
        """What ``DOCKER_HOST`` is to be."""
        return f"tcp://127.0.0.1:{self.server_address[1]}"

    def begin(self) -> None:
        """Serve, as the image's own command does, on a port that is free."""
        told = dict(pair.split("=", 1) for pair in self.asked["Env"])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "reseller_sandbox.cli", "serve", "--port", "0"],
            env={**os.environ, "RESELLER_SANDBOX_HOST": "0.0.0.0", **told},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout is not None
        self.port = self.process.stdout.readline().rstrip().rpartition(":")[2]

    def end(self) -> None:
        """Take the container away."""
        if self.process is not None:
            self.process.terminate()
            self.process.communicate(timeout=60)
            self.process = None

    def standing(self) -> dict[str, Any]:
        """What is told of the container."""
        (port,) = self.asked["ExposedPorts"]
        running = self.process is not None
        bound = {port: [{"HostIp": "0.0.0.0", "HostPort": self.port}]}
        return {
            "Id": ID,
            "Name": "/one",
            "Config": self.asked,
            "State": {"Status": "running" if running else "created", "Running": running},
            "NetworkSettings": {"Ports": bound, "Networks": {}},
        }


class _Handler(BaseHTTPRequestHandler):
    server: Engine

    def do_GET(self) -> None:
        if self.path.endswith("/version"):
            self._answer({"ApiVersion": "1.45", "MinAPIVersion": "1.24"})
        elif "/images/" in self.path:
            self._answer({"Id": "sha256:0", "RepoTags": []})
        else:
            self._answer(self.server.standing())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if re.search(r"/containers/create", self.path):
            self.server.asked = json.loads(body)
            self._answer({"Id": ID, "Warnings": []}, 201)
        else:
            self.server.begin()
            self._answer(None, 204)

    def do_DELETE(self) -> None:
        self.server.end()
        self._answer(None, 204)

    def _answer(self, told: Any, status: int = 200) -> None:
        body = b"" if told is None else json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def engine() -> Iterator[Engine]:
    """An engine that listens, and ends what it has started."""
    with Engine() as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        try:
            yield made
        finally:
            made.shutdown()
            thread.join()
            made.end()
