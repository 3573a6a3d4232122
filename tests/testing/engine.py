"""A container engine, as far as a client needs it to start a container, which is a process here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ID = "c0ffee" * 10 + "c0ff"


class Engine(ThreadingHTTPServer):
    """Listens as Docker does; ``wanted`` is the container that was created last."""

    wanted: dict[str, Any]
    process: subprocess.Popen[str] | None = None
    port = ""

    def begin(self) -> None:
        """Serve on a free port, with the environment of the container."""
        settings = dict(pair.split("=", 1) for pair in self.wanted["Env"])
        command = [sys.executable, "-m", "reseller_sandbox", "serve", "--port", "0"]
        environment = {**os.environ, "RESELLER_SANDBOX_HOST": "0.0.0.0", **settings}
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.process = subprocess.Popen(command, env=environment, **pipes)
        assert self.process.stdout is not None
        self.port = self.process.stdout.readline().rstrip().rpartition(":")[2]

    def end(self) -> None:
        """Remove the container."""
        if self.process is not None:
            self.process.terminate()
            self.process.communicate(timeout=60)
            self.process = None

    def container(self) -> dict[str, Any]:
        (port,) = self.wanted["ExposedPorts"]
        status = {"Status": "running" if self.process else "created", "Running": bool(self.process)}
        network = {"Ports": {port: [{"HostIp": "0.0.0.0", "HostPort": self.port}]}, "Networks": {}}
        return {"Id": ID, "Name": "/one", "Config": self.wanted, "State": status, "NetworkSettings": network}


class _Handler(BaseHTTPRequestHandler):
    server: Engine

    def do_GET(self) -> None:
        if self.path.endswith("/version"):
            self._answer({"ApiVersion": "1.45", "MinAPIVersion": "1.24"})
        elif "/images/" in self.path:
            self._answer({"Id": "sha256:0", "RepoTags": []})
        else:
            self._answer(self.server.container())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "/containers/create" in self.path:
            self.server.wanted = json.loads(body)
            self._answer({"Id": ID, "Warnings": []}, 201)
        else:
            self.server.begin()
            self._answer(None, 204)

    def do_DELETE(self) -> None:
        self.server.end()
        self._answer(None, 204)

    def _answer(self, content: Any, status: int = 200) -> None:
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def engine() -> Iterator[Engine]:
    """A listening engine. Its container ends with it."""
    with Engine(("127.0.0.1", 0), _Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield listening
        finally:
            listening.shutdown()
            thread.join()
            listening.end()
