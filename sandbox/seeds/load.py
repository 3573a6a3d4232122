"""From YAML to a world's first moment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from marshmallow import ValidationError
from rpds import HashTrieMap

from sandbox.core.assumptions import Assumptions, BadAssumption
from sandbox.core.clock import parse_instant
from sandbox.core.state import State
from sandbox.faults import FaultBook, Vocabulary
from sandbox.seeds import faults, holdings, money, people, plans, transfers, zones
from sandbox.seeds.fields import mistakes
from sandbox.seeds.include import Read, included
from sandbox.seeds.problems import FixtureError, Problem, first_told, nearest, problem
from sandbox.seeds.reader import Rows, Tree, decode, read
from sandbox.seeds.schema import BEGINNING, FixtureSchema
from sandbox.seeds.site import Site

_HERE = Path(__file__).parents[1]
#: Where the packaged fixtures are: in an installed package, and in a checkout.
_PACKAGED = (_HERE / "fixtures", _HERE.parent / "fixtures")

_FORMAT = FixtureSchema()


@dataclass(frozen=True)
class Seed:
    """What a fixture makes: a state, the instant it stands at, and how its world is to behave.

    ``frozen`` is None where the fixture leaves it open. ``assume`` has the assumptions as the
    fixture gives them; they are known to be good. ``faults`` are the rules in force.
    """

    state: State
    now: datetime
    frozen: bool | None
    assume: dict[str, object]
    faults: FaultBook = FaultBook()


def find(name_or_path: str) -> Path:
    """The packaged fixture of that name, or else the file at that path.

    Raises :class:`FixtureError`, with the nearest packaged fixture, when there is neither.
    """
    found = _packaged(name_or_path)
    if found is not None:
        return found
    path = Path(name_or_path)
    if _is_file(path):
        return path
    known = sorted({file.stem for folder in _PACKAGED for file in folder.glob("*.yaml")})
    hint = nearest(name_or_path, known) or f"; the packaged ones are {', '.join(known)}"
    raise FixtureError([Problem(name_or_path, 0, 0, f"there is no such fixture{hint}")])


def _packaged(name: str) -> Path | None:
    if not name.isidentifier():
        return None
    candidates = (folder / f"{name}.yaml" for folder in _PACKAGED)
    return next((path for path in candidates if _is_file(path)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def load(
    path: Path, *, now: datetime | None = None, seed: str | None = None, words: Vocabulary | None = None
) -> Seed:
    """The fixture in the file at ``path``.

    ``now`` and ``seed`` take the place of the fixture's own, so that dates given relative to
    ``now`` move with it. ``words`` are those that faults may use; None lets any pass. Raises
    :class:`FixtureError` with every mistake there is.
    """

    def beside(source: str) -> tuple[Tree, list[Problem]]:
        return _read(_packaged(source) or path.parent / source)

    tree, problems = _read(path)
    return _build(tree, problems, beside, now, seed, words)


def loads(
    text: str,
    *,
    name: str = "<text>",
    now: datetime | None = None,
    seed: str | None = None,
    words: Vocabulary | None = None,
) -> Seed:
    """The fixture in ``text``, which mistakes will call ``name``; otherwise as :func:`load`.

    Text that came from elsewhere can include packaged fixtures alone, and no files.
    """

    def packaged(source: str) -> tuple[Tree, list[Problem]]:
        path = _packaged(source)
        if path is None:
            raise FixtureError([Problem(source, 0, 0, "it is not a packaged fixture")])
        return _read(path)

    tree, problems = read(text, name)
    return _build(tree, problems, packaged, now, seed, words)


def _read(path: Path) -> tuple[Tree, list[Problem]]:
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FixtureError([Problem(str(path), 0, 0, f"it cannot be read: {reason}")]) from None
    return read(decode(content, str(path)), str(path))


def _build(
    tree: Tree,
    reading: list[Problem],
    source: Read,
    now: datetime | None,
    seed: str | None,
    words: Vocabulary | None,
) -> Seed:
    tree, found = included(tree, source)
    shape, formal = _shape(tree)
    assume, assumed = _assumptions(tree, shape)
    now = now or (shape["now"].instant if "now" in shape else parse_instant(BEGINNING))
    site = Site(
        tree=tree,
        shape=shape,
        now=now.replace(microsecond=0),
        state=State(
            seed=seed if seed is not None else shape.get("seed", State().seed),
            contact_params=tuple(sorted(shape.get("contact_params", {}).items())),
        ),
        processing=timedelta(seconds=Assumptions().with_values(assume).order_processing),
    )
    state = _state(site)
    book = faults.build(site, words)
    problems = first_told(reading + found, formal, assumed + site.problems)
    if problems:
        raise FixtureError(problems)
    return Seed(state, site.now, shape.get("frozen"), assume, book)


def _shape(tree: Tree) -> tuple[dict[str, Any], list[Problem]]:
    """What the file says, and what of it has not the shape of a fixture."""
    try:
        return _FORMAT.load(tree), []
    except ValidationError as error:
        return error.valid_data, list(mistakes(error.messages))  # type: ignore[return-value]


def _assumptions(tree: Tree, shape: dict[str, Any]) -> tuple[dict[str, object], list[Problem]]:
    """The assumptions that are good; texts stay as they are written, so that a bare ``off`` is ``off``."""
    good: dict[str, object] = {}
    problems = []
    known = Assumptions().values()
    for name, value in shape.get("assume", {}).items():
        plain = [str(item) for item in value] if isinstance(value, Rows) else str(value)
        try:
            Assumptions().with_values({name: plain})
        except BadAssumption as reason:
            node = tree["assume"]
            place = node.place_of(name) if name not in known and isinstance(node, Tree) else value.place
            problems.append(problem(place, str(reason)))
        else:
            good[name] = plain
    return good, problems


def _state(site: Site) -> State:
    zones.build(site)
    people.build(site)
    money.build(site)
    ids = holdings.numbers(site)
    holdings.build(site, ids)
    transfers.build(site, ids)
    site.put(money.opened(site))
    site.put(entry for entry in site.ledger.values() if entry is not None)
    site.put(site.records)
    plans.build(site)
    return _counted(site, ids)


def _counted(site: Site, ids: holdings.Numbers) -> State:
    """The state with its counters: each at the highest number in use, or where the fixture sets it."""
    counters = counters_in_use(site.state, ids.used)
    for name, number in site.section("counters").items():
        if number < counters.get(name, 0):
            path = ("counters", name)
            site.report(path, f"the number {counters[name]} is in use already, and this is {number}")
        counters[name] = number
    return replace(site.state, counters=HashTrieMap(counters))


def counters_in_use(state: State, orders: set[int]) -> dict[str, int]:
    """The highest numbers in use, for each counter whose numbers something in ``state`` carries."""
    named = {entry.order for entry in state.ledger.values() if entry.order is not None}
    counters = {"order": max({holdings.FIRST_ORDER - 1} | orders | named)}
    tables = {"ledger": state.ledger, "customer": state.customers, "plan": state.plans}
    for counter, numbers in tables.items():
        if len(numbers):
            counters[counter] = max(numbers)
    return counters
