"""A file of worlds is whole, or it is refused with its place, and left as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.keeping import file
from reseller_sandbox.keeping.file import BadFile
from reseller_sandbox.keeping.worlds import VERSION, opened, save
from tests.registry import REGISTRY

FOLDER = Path(__file__).parent


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of two worlds with a past."""
    path = tmp_path_factory.mktemp("kept") / "worlds"
    sandbox = Sandbox(REGISTRY)
    sandbox.fork()
    for target in ("/v3/balance", "/v3/domains/getDomain/nobodys.com", "/v3/domains"):
        sandbox.client().get(target)
    save(path, sandbox.engine.kept())
    return path


@given(data=st.data())
def test_no_byte_of_it_can_be_another(kept: Path, data: st.DataObject) -> None:
    """Damage anywhere is found, and the file and the byte are told."""
    content = bytearray(kept.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    refused(kept, bytes(content))


@given(data=st.data())
def test_it_ends_where_it_ends(kept: Path, data: st.DataObject) -> None:
    """One that is cut off anywhere is refused, and one that goes on."""
    content = kept.read_bytes()
    refused(kept, content[: data.draw(st.integers(0, len(content) - 1))])
    refused(kept, content + data.draw(st.binary(min_size=1, max_size=40)))


def refused(kept: Path, content: bytes) -> None:
    """Assert that a file of that content is refused in words that name the place, and stays as it is."""
    path = kept.with_name("damaged")
    path.write_bytes(content)
    with pytest.raises(BadFile, match=r"byte \d+"):
        opened(path)
    assert path.read_bytes() == content


@pytest.mark.slow
@given(data=st.data())
def test_one_that_was_made_up_is_refused(kept: Path, data: st.DataObject) -> None:
    """Blocks whose checksums are right may say anything: it is refused, or makes worlds, and nothing else."""
    blocks: list[tuple[list[Any], bytes]] = [
        (json.loads(json.dumps(one.head)), bytes(one.body)) for one in file.read(kept, VERSION)
    ]
    at = data.draw(st.integers(1, len(blocks) - 1))
    head, body = blocks[at]
    sort = data.draw(st.sampled_from(["kind", "count", "columns", "column", "body", "left out", "again"]))
    match sort:
        case "kind":
            head[0] = data.draw(st.sampled_from([one[0] for one, _ in blocks] + ["os.system", 7, None]))
        case "count":
            head[1] = data.draw(st.integers(-2, 1 << 40) | st.none())
        case "columns":
            head[2] = data.draw(st.none() | st.lists(st.sampled_from(["=", 0, ["+"]]), max_size=3))
        case "column" if head[2]:
            numbers = st.integers(-3, 1 << 33)
            head[2][0] = [data.draw(st.sampled_from(["=", "+", 1, 2, 4, "raw", 3])), data.draw(numbers), 0]
        case "body":
            body = data.draw(st.binary(max_size=60))
        case "left out":
            head[0] = None
        case _:
            blocks.append((head, body))
    if head[0] is None:
        del blocks[at]
    else:
        blocks[at] = head, body
    path = kept.with_name("made-up")
    file.write(path, VERSION, lambda put: any(put(*block) for block in blocks))
    with suppress(BadFile):
        opened(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no file that worlds are kept in"),
        (b"zones: {com: {}}\n", "no file that worlds are kept in"),
        (b"\x80\x04\x95", "no file that worlds are kept in"),
        (b"reseller-sandbox worlds, version 99\n", "of version 99 of the format; this program reads 3"),
    ],
)
def test_a_foreign_file_is_told_from_a_damaged_one(tmp_path: Path, content: bytes, said: str) -> None:
    """By its first line."""
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=said):
        opened(path)


def test_records_of_another_version_are_refused_by_name(kept: Path, tmp_path: Path) -> None:
    """No field is guessed."""
    blocks = list(file.read(kept, VERSION))
    shape = [one.replace("Order(id", "Order(number") for one in blocks[0].head[1]]
    path = tmp_path / "older"
    file.write(path, VERSION, lambda put: put(["shape", shape], b""))
    with pytest.raises(BadFile, match="whose Order has other fields"):
        opened(path)


def test_only_its_owner_may_read_it(kept: Path) -> None:
    """It holds credentials."""
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_disk_that_is_full_leaves_the_last_whole_save(kept: Path, tmp_path: Path) -> None:
    """And nothing beside it."""
    path = tmp_path / "worlds"
    path.write_bytes(kept.read_bytes())

    def full(put: file.Put) -> None:
        put(["text", 0, []], b"")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        file.write(path, VERSION, full)
    assert [one.name for one in tmp_path.iterdir()] == ["worlds"]
    assert path.read_bytes() == kept.read_bytes()


@pytest.mark.parametrize("times", [8, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_at_any_instant_it_holds_the_last_whole_save(tmp_path: Path, times: int) -> None:
    """Processes that change and save as fast as they can are killed: each file opens, and is sound."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.keeping.test_file", str(tmp_path / "worlds"), str(times)],
        cwd=FOLDER.parents[1],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    requests = [int(word) for word in done.stdout.split()]
    assert len(requests) == times
    assert requests == sorted(requests), "an older save came back"
    assert requests[-1] > 0


def killed(path: Path, times: int) -> Iterator[int]:
    """How many requests the file holds after each kill, some time after a few saves or before any."""
    from time import sleep

    from reseller_sandbox.limits import Limits
    from tests.soundness import assert_sound

    sandbox, random = Sandbox(REGISTRY), Random(1)
    client, names = sandbox.client(), len(sandbox.world.state.orders)
    assert sandbox.app.url_map  # all rows, so that no child spends its time on loading them
    for saves in islice(cycle((0, 1, 3)), times):
        told, tell = os.pipe()
        child = os.fork()
        if not child:
            while True:
                number = sandbox.world.moment.requests
                client.post("/v3/domains/createDomain", json={"domain": {"domainName": f"k{number}.com"}})
                save(path, sandbox.engine.kept())
                os.write(tell, b".")
        os.close(tell)
        for _ in range(saves):
            assert os.read(told, 1), "it has died by itself"
        sleep(random.uniform(0.0, 0.05))
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(told)
        if path.exists():
            world = opened(path).worlds[0].opened(Limits())
            assert_sound(world.state)
            assert world.moment.requests == len(world.journal)
            assert sum(entry.changed for entry in world.journal) == len(world.state.orders) - names
            sandbox.world.moment = world.moment
            sandbox.world.journal.replace(world.journal.entries)
            client = sandbox.client()
        yield sandbox.world.moment.requests


if __name__ == "__main__":
    print(*killed(Path(sys.argv[1]), int(sys.argv[2])))
