"""Run transcripts: files of commands and requests, each with its output in lines that begin with ``|``.

A paragraph is a command (``$ reseller-sandbox clock show``, perhaps with ``> FILE``) or a request (``main GET
/v3/balance``, then lines for headers and the body). ``main`` is an account of world.yaml, ``main!`` has wrong
credentials, ``-`` has none. A command that ends with ``&`` is a server, which runs until the next one starts.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager
from difflib import unified_diff
from http.client import HTTPConnection, HTTPException
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import NamedTuple

from tests.clients import signature
from tests.command import run

FOLDER = Path(__file__).parent
WORLD = "world.yaml"

#: Each transcript with the other files that it writes. ``files`` reads the files of the other transcripts.
TRANSCRIPTS = {
    "commands": ("commands.recording", "commands.state", "world.export.yaml"),
    "v3": ("v3.recording",),
    "v2": ("v2.recording", "v2.export.yaml"),
    "files": ("world.export.yaml", "v2.export.yaml"),
}

#: A longer output of a command is cut in commands.txt and files.txt to so many lines and a checksum.
MOST, KEPT = 50, 12

#: How many lines of a difference are shown.
SHOWN = 60

#: The durations in an output.
MEASURED = re.compile(r"((?:duration_ms|idle_seconds)\W+(?=\d))[0-9.e-]+")


@contextmanager
def rerun(name: str) -> Iterator[Path]:
    """Run a transcript. Yield a folder with the new transcript and the other files that it writes."""
    with TemporaryDirectory() as made:
        folder = Path(made).resolve()
        inputs = [file for files in TRANSCRIPTS.values() for file in files] if name == "files" else []
        for file in (f"{name}.txt", WORLD, *inputs):
            shutil.copy(FOLDER / file, folder)
        transcript = folder / f"{name}.txt"
        with chdir(folder), ExitStack() as stack:
            run = Run(folder, stack, cuts=name in ("commands", "files"))
            paragraphs = transcript.read_text("utf-8").strip("\n").split("\n\n")
            output = "\n\n".join(map(run.paragraph, paragraphs))
        transcript.write_text(f"{output}\n", "utf-8")
        yield folder


def differences(name: str, folder: Path | None = None) -> list[str]:
    """Return the first lines of a run that differ from the golden files, as ``diff -u`` shows them.

    Without the ``folder`` of a run, run the transcript. Files other than texts have durations and the port.
    """
    if folder is None:
        with rerun(name) as folder:
            return differences(name, folder)
    files = [file for file in (f"{name}.txt", *TRANSCRIPTS[name]) if file.endswith((".txt", ".yaml"))]
    texts = [[(at / file).read_text("utf-8").splitlines() for at in (FOLDER, folder)] for file in files]
    lines = (
        line
        for file, (golden, now) in zip(files, texts, strict=True)
        for line in islice(unified_diff(golden, now, f"golden {file}", "now", lineterm=""), SHOWN)
    )
    return list(lines)


class Exchange(NamedTuple):
    """A request of a transcript with the status and the body of its answer."""

    method: str
    target: str
    status: int
    body: str


def exchanges(name: str) -> Iterator[Exchange]:
    """Yield the requests of a golden transcript with their answers."""
    for paragraph in (FOLDER / f"{name}.txt").read_text("utf-8").split("\n\n"):
        if parts := re.match(
            r"\S+ ([A-Z]+) (/.*)\n(?:[^|].*\n)*\| (\d+)\n(?:\| .*\n)*\|\n\| (.*)$", paragraph
        ):
            yield Exchange(parts[1], parts[2], int(parts[3]), parts[4])


class Run:
    """A run of a transcript in a folder. ``stack`` ends the server."""

    def __init__(self, folder: Path, stack: ExitStack, *, cuts: bool) -> None:
        self.folder = folder
        self.stack = stack
        self.cuts = cuts
        self.port = 65535  # where no server is
        self.environment: dict[str, str | None] = {
            **dict.fromkeys(name for name in os.environ if name.startswith("RESELLER_SANDBOX_")),
            "HOME": str(folder),
            "COLUMNS": "120",
        }

    def paragraph(self, text: str) -> str:
        source = [line for line in text.split("\n") if not line.startswith("|")]
        if source[0].startswith("#"):
            return text
        output = self.command(source[0]) if source[0].startswith("$") else self.request(*source)
        output = output.replace(f":{self.port}", ":PORT").replace(str(self.folder), "FOLDER")
        output = MEASURED.sub(r"\1…", output)
        return "\n".join([*source, *(f"| {line}" if line else "|" for line in lines(output))])

    def command(self, source: str) -> str:
        """Run a command. Return its output, its errors (``!``) and its exit status, if that is not 0."""
        _, _, *words = shlex.split(source)
        if words[-1:] == ["&"]:
            return self.serve(words[:-1])
        file = self.folder / words.pop() if words[-2:-1] == [">"] else None
        environment = {**self.environment, "RESELLER_SANDBOX_URL": f"http://127.0.0.1:{self.port}"}
        done = run(*(words[:-1] if file else words), env=environment)
        if file:
            file.write_text(done.out, "utf-8")
        shown = [] if file else lines(done.out)
        if self.cuts and len(shown) > MOST:
            checksum = hashlib.sha256(done.out.encode()).hexdigest()
            shown[KEPT:] = [f"… {len(shown) - KEPT} more lines; SHA-256 of all: {checksum}"]
        errors = [f"! {line}".rstrip() for line in lines(done.err)]
        return "\n".join([*shown, *errors, *([f"[{done.status}]"] if done.status else [])])

    def serve(self, words: list[str]) -> str:
        """Replace the server by another one. Return what it prints before it answers."""
        self.stack.close()
        ready, printed = self.folder / "ready.json", self.folder / "printed"
        options = ("--port", "0", "--ready-file", str(ready))
        environment = {**os.environ, **self.environment}
        with printed.open("wb") as file:
            server = subprocess.Popen(
                (sys.executable, "-m", "reseller_sandbox", *words, *options),
                stdout=file,
                stderr=file,
                env={name: value for name, value in environment.items() if value is not None},
            )
        self.stack.callback(server.wait)
        self.stack.callback(server.terminate)
        while server.poll() is None and not ready.exists():
            sleep(0.01)
        output = printed.read_text("utf-8")
        address = re.search(r"http://127\.0\.0\.1:([0-9]+)", output)
        self.port = int(address[1]) if address else self.port
        # The server signs its own address, which has the port.
        return re.sub("(SIGNATURE: )[0-9a-f]{64}", r"\1…", output)

    def request(self, line: str, *rest: str) -> str:
        """Send a request. Return the status, the headers and the body of the answer, or the exception."""
        account, method, target = line.split(" ")
        name, is_wrong = account.removesuffix("!"), account.endswith("!")
        at = next((at for at, text in enumerate(rest) if not re.match(r"[\w-]+: ", text)), len(rest))
        body = "\n".join(rest[at:]).encode()
        headers = {"Content-Type": "application/json"} if method in ("POST", "PUT") else {}
        if name != "-" and target.startswith("/v3"):
            signed = f"http://127.0.0.1:{self.port}{target}"
            secret = "wrong" if is_wrong else f"{name}-secret"
            headers["X-SVC-APIKEY"] = f"{name}-key"
            headers["X-SVC-SIGNATURE"] = signature(secret, f"{name}-key", signed, body)
        elif name != "-":
            headers["X-Auth-Token"] = f"{name}-wrong" if is_wrong else f"{name}-token"
        headers |= dict(text.split(": ", 1) for text in rest[:at])
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, target, body or None, headers)
            answer = connection.getresponse()
            content = answer.read().decode("utf-8")
        except (HTTPException, OSError) as problem:
            return type(problem).__name__
        finally:
            connection.close()
        # Content-Length depends on the digits of the port.
        received = (
            f"{key}: {value}" for key, value in answer.getheaders() if key.lower() != "content-length"
        )
        return "\n".join([str(answer.status), *received, "", content])


def lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
