"""An unknown key or token may be one of the real service, sent by mistake: its ends alone are shown."""

from __future__ import annotations

import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

KEY, TOKEN, BASIC = "live-key-0815", "live-token-4711", "bGl2ZTpwYXNzd29yZA=="
SIGNED = "X-SVC-SIGNATURE=f00d"


def answer(url: str, headers: dict[str, str]) -> str:
    """Return the head and body of an answer, whatever its status."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=30) as sent:
            return f"{sent.headers}{sent.read().decode()}"
    except urllib.error.HTTPError as refused:
        return f"{refused.headers}{refused.read().decode()}"


def test_of_an_unknown_key_or_token_four_characters_are_shown(tmp_path: Path) -> None:
    """In the answers, in everything that control says of the requests, and in the log."""
    log, ready = tmp_path / "log", tmp_path / "ready"
    command = [sys.executable, "-m", "reseller_sandbox", "serve", "--port", "0", "--ready-file", str(ready)]
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as server:
        try:
            while not ready.exists():
                assert server.poll() is None
            url = ready.read_text().partition('"url": "')[2].partition('"')[0]
            shown = [
                answer(f"{url}/v3/balance", {"X-SVC-APIKEY": KEY, "X-SVC-SIGNATURE": "f00d"}),
                answer(f"{url}/v3/balance", {"x-svc-apikey": KEY}),
                answer(f"{url}/V2.0/domain/zones", {"X-Auth-Token": TOKEN}),
                answer(f"{url}/V2.0/domain/zones", {"Authorization": f"Basic {BASIC}"}),
            ]
            for name in ("X-SVC-APIKEY", "x-svc-apikey", "X-Svc-%41piKey"):
                shown.append(answer(f"{url}/v3/balance?{name}={KEY}&{SIGNED}", {}))
            for path in ("journal", "journal/r1", "journal/r3", "history/diff", "advice", "journal/r1/code"):
                shown.append(answer(f"{url}/_sandbox/{path}", {}))
        finally:
            server.terminate()
    shown.append(log.read_text())
    assert "the API key 'li***15': nobody has it" in shown[0]
    assert "the token 'li***11': nobody has it" in shown[2]
    assert [text for text in shown if KEY in text or TOKEN in text or BASIC in text] == []
    for name in ("X-SVC-APIKEY", "x-svc-apikey"):
        assert f"{name}=li***15" in shown[-1]
