"""The client that loads a server: wrk where it is installed, else one of ours."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reseller_sandbox.core.clock import stopwatch

#: Sends one prepared request after the other, and tells how many were answered well in how many µs.
_SCRIPT = """
local requests, n = {{ {requests} }}, 0
request = function() n = n + 1; return requests[(n - 1) % #requests + 1] end
done = function(summary)
  local e = summary.errors
  local bad = e.status + e.read + e.timeout + e.connect
  io.write(("RESULT %d %d %d\\n"):format(summary.requests, summary.duration, bad))
end
"""


def name() -> str:
    """Return which client it is."""
    if shutil.which("wrk") is None:
        return "our own on asyncio, slower than the quickest of the servers, since wrk is not installed"
    told = subprocess.run(["wrk", "-v"], capture_output=True, text=True, check=False).stdout
    return " ".join(told.split()[:2])


def written(method: str, path: str, port: int, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """Return a request as it is sent."""
    told = {"Host": f"127.0.0.1:{port}", **headers, **({"Content-Length": str(len(body))} if body else {})}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in told.items()), "", ""]
    return "\r\n".join(lines).encode() + body


def rate(port: int, requests: Sequence[bytes], connections: int, seconds: float) -> float:
    """Return how many requests a second are answered, all of them well; they are sent over and over.

    wrk takes a second or more, so shorter times are left to our own client.
    """
    if shutil.which("wrk") is not None and seconds >= 1:
        return _by_wrk(port, requests, connections, seconds)
    return asyncio.run(_by_ours(port, itertools.cycle(requests), connections, seconds))


def computed(process: int | None) -> float:
    """Return the computing time of a process until now; 0 where that is not known."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _by_wrk(port: int, requests: Sequence[bytes], connections: int, seconds: float) -> float:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "requests.lua"
        script.write_text(_SCRIPT.format(requests=", ".join(map(_lua, requests))))
        command = ["wrk", "-t1", f"-c{connections}", f"-d{max(round(seconds), 1)}s", "-s", str(script)]
        done = subprocess.run(
            [*command, f"http://127.0.0.1:{port}"], capture_output=True, text=True, check=True
        )
    found = re.search(r"RESULT (\d+) (\d+) (\d+)", done.stdout)
    assert found is not None, done.stdout
    assert found[3] == "0", f"{found[3]} answers were errors:\n{done.stdout}"
    return int(found[1]) / int(found[2]) * 1e6


def _lua(request: bytes) -> str:
    plain = (chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:03}" for byte in request)
    return f'"{"".join(plain)}"'


async def _by_ours(port: int, requests: Iterator[bytes], connections: int, seconds: float) -> float:
    until = stopwatch() + seconds

    async def client() -> int:
        answered, streams = 0, None
        while stopwatch() < until:
            reader, writer = streams or await asyncio.open_connection("127.0.0.1", port)
            writer.write(next(requests))
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.split()[1][:1] == b"2", head
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            if length is not None:
                await reader.readexactly(int(length[1]))
            else:
                assert b"chunked" in head, head
                await reader.readuntil(b"0\r\n\r\n")
            answered += 1
            streams = (reader, writer) if b"connection: close" not in head.lower() else writer.close()
        return answered

    return sum(await asyncio.gather(*(client() for _ in range(connections)))) / seconds
