"""Commands write any text in any encoding of the output. They replace the characters that it lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.command import run

CODECS = ("ascii", "cp1252", "latin-1", "cp437", "cp866", "koi8-r", "shift_jis", "utf-8", "utf-16")
NAME = "приклад-ñ-例.укр"


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    sandbox = Sandbox()
    sandbox.answers.add("/note", body={"text": f"“{NAME}” → 🙂"})
    with sandbox.serve() as server:
        yield server


def printed(codec: str, *words: str) -> str:
    """Return the output of a command whose streams have the encoding ``codec``."""
    done = subprocess.run(
        [sys.executable, "-m", "reseller_sandbox", *words],
        env={**os.environ, "PYTHONIOENCODING": codec, "PYTHONUTF8": "0"},
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr, done.stderr.decode("utf-8", "replace")
    assert done.returncode == 0, done.stderr
    return done.stdout.decode("utf-8" if codec == "ascii" else codec, "replace")


@pytest.mark.parametrize("codec", CODECS)
def test_a_command_ends_without_a_traceback_in_any_encoding(server: Any, codec: str) -> None:
    """JSON keeps every character, because it can escape them."""
    url = ("--url", server.url)
    assert json.loads(printed(codec, "request", "GET", "/note", *url))["text"] == f"“{NAME}” → 🙂"
    names = json.loads(printed(codec, "names", "list", "--json", *url))["names"]
    assert "приклад.укр" in [name["name"] for name in names]
    assert "example-one.com.ua" in printed(codec, "names", "list", *url)


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["cp1252", "koi8-r"])
@pytest.mark.parametrize(
    "words",
    [
        ("manual", "index"),
        ("fixture", "example"),
        ("fixture", "generate", "--names", "60", "--zones", "укр"),
        ("openapi", "v3"),
        ("openapi", "v2", "--format", "yaml"),
        ("assumptions",),
        ("lifecycle",),
        ("--help",),
    ],
)
def test_each_document_can_be_printed_in_any_encoding(codec: str, words: tuple[str, ...]) -> None:
    assert printed(codec, *words)


@given(text=st.text(min_size=1, max_size=20), codec=st.sampled_from(CODECS))
def test_a_message_with_any_text_is_printed_in_any_encoding(text: str, codec: str) -> None:
    """In this process, with streams of that encoding."""
    codec = "utf-8" if codec == "ascii" else codec  # click writes UTF-8 instead
    done = run("openapi", text.lstrip("-") or "x", codec=codec)
    assert (done.status, done.err.startswith("reseller-sandbox: ")) == (2, True), done.err
