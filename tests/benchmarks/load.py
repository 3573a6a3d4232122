"""The client that loads a server: wrk if it is installed, else a client on asyncio."""

from __future__ import annotations

import asyncio
import itertools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter

#: Sends one prepared request after the other, and prints how many were answered well in how many µs.
_SCRIPT = """
local requests, n = {{ {requests} }}, 0
request = function() n = n + 1; return requests[(n - 1) % #requests + 1] end
done = function(summary)
  local e = summary.errors
  local bad = e.status + e.read + e.timeout + e.connect
  io.write(("RESULT %d %d %d\\n"):format(summary.requests, summary.duration, bad))
end
"""


def written(method: str, path: str, port: int, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    sent = {"Host": f"127.0.0.1:{port}", **headers, **({"Content-Length": str(len(body))} if body else {})}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
    return "\r\n".join(lines).encode() + body


def rate(port: int, requests: Sequence[bytes], connections: int, seconds: float) -> float:
    """Return the requests a second that are answered with success; they are sent over and over."""
    if shutil.which("wrk") is None or seconds < 1:
        return asyncio.run(_by_asyncio(port, itertools.cycle(requests), connections, seconds))
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "requests.lua"
        script.write_text(_SCRIPT.format(requests=", ".join(map(_lua, requests))))
        command = ["wrk", "-t1", f"-c{connections}", f"-d{round(seconds)}s", "-s", str(script)]
        url = f"http://127.0.0.1:{port}"
        done = subprocess.run([*command, url], capture_output=True, text=True, check=True)
    found = re.search(r"RESULT (\d+) (\d+) (\d+)", done.stdout)
    assert found is not None, done.stdout
    assert found[3] == "0", f"{found[3]} responses were errors:\n{done.stdout}"
    return int(found[1]) / int(found[2]) * 1e6


def _lua(request: bytes) -> str:
    plain = (chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\{byte:03}" for byte in request)
    return f'"{"".join(plain)}"'


async def _by_asyncio(port: int, requests: Iterator[bytes], connections: int, seconds: float) -> float:
    until = perf_counter() + seconds

    async def client() -> int:
        answered = 0
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while perf_counter() < until or not answered:
            writer.write(next(requests))
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.split()[1][:1] == b"2", head
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            await (reader.readexactly(int(length[1])) if length else reader.readuntil(b"0\r\n\r\n"))
            answered += 1
            if b"connection: close" in head.lower():
                writer.close()
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()
        return answered

    return sum(await asyncio.gather(*(client() for _ in range(connections)))) / seconds
