"""A sandbox written to a file and opened again, and all that can be seen of one."""

from __future__ import annotations

from http.client import HTTPException
from pathlib import Path

from reseller_sandbox import Sandbox
from reseller_sandbox.assembly import assemble, open_worlds
from reseller_sandbox.keeping.worlds import opened, save
from reseller_sandbox.powers.here import Here
from tests.clients import Answer, InProcess
from tests.script import MEASURED


def reopened(sandbox: Sandbox, path: Path) -> Sandbox:
    """The sandbox as another process has it that opens the file."""
    save(path, sandbox.engine.kept())
    engine = open_worlds(sandbox.settings, frozen=True, kept=opened(path))
    made = Sandbox.through(Here(engine, engine.default))
    made.engine, made.settings = engine, sandbox.settings
    made.app = assemble(engine, sandbox.settings, sandbox.powers())
    return made


def sent(sandbox: Sandbox, method: str, target: str, body: bytes = b"", account: str = "main") -> Answer:
    """The answer to a request, signed and with the token, in the world of the path or of the credentials."""
    client = sandbox.client(account)
    try:
        answer = client.open(target, method=method, data=body, content_type="application/json")
        content = answer.data
    except (HTTPException, OSError) as problem:  # as a fault will have it
        return Answer(0, {}, repr(problem).encode())
    headers = {name.lower(): value for name, value in answer.headers.items()}
    raw, measured = MEASURED.subn(rb'"\1":0', content)
    if measured:
        headers.pop("content-length")
    return Answer(answer.status_code, headers, raw)


def looks(sandbox: Sandbox) -> list[str]:
    """The paths of control that only look."""
    answer = InProcess(sandbox.app)("GET", "/_sandbox/openapi/control.json", [("Host", "localhost")], b"")
    rows = answer.json["paths"].items()
    return [
        path
        for path, row in rows
        if "get" in row and "event-stream" not in str(row["get"]) and "{" not in path
    ]


def seen(sandbox: Sandbox) -> dict[str, Answer]:
    """Every look at every world, and each request, event and snapshot one by one."""
    found = {}
    for world in sandbox.engine:
        prefix = f"/_worlds/{world.name}"
        for path in looks(sandbox):
            found[prefix + path] = sent(sandbox, "GET", prefix + path)
        for entry in world.journal:
            for side in ("before", "after"):
                path = f"{prefix}/_sandbox/history/diff?from={side}:{entry.id}&limit=1000"
                found[path] = sent(sandbox, "GET", path)
            path = f"{prefix}/_sandbox/journal/{entry.id}"
            found[path] = sent(sandbox, "GET", path)
    return found
