"""A Flask application of one JSON route, on the server that the sandbox has."""

from __future__ import annotations

import sys

from flask import Flask

from reseller_sandbox.server.server import Server

if __name__ == "__main__":
    app = Flask("bare")
    app.add_url_rule("/", view_func=lambda: {"bare": True})
    with Server(app, port=0) as server:
        print(server.url, flush=True)
        sys.stdin.read()
