"""What a fixture means: defaults, dates, names, money, and what is packaged."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from marshmallow import fields

from sandbox.core.model import OUTSIDE, After, Flag, Order, Purpose, Stage, TransferStatus
from sandbox.core.state import State
from sandbox.seeds import FixtureError, find, load, loads, reader, schema

PRICES = "{prices: {registration: 8.99, renewal: 9.99, transfer: 7.99, restore: 80.00}}"
WORLD = (
    "now: 2026-01-15T12:00:00Z\n"
    f"zones: {{com: {PRICES}}}\n"
    "accounts: {main: {balance: 50.00, contact: {name: Mary Example}}}\n"
)
NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)


def order(state: State, name: str) -> Order:
    """The order that holds ``name``."""
    return state.orders[state.holding_order[name]]


def stands(text: str) -> Order:
    """The order that ``text``, the value of a domain, makes."""
    return order(loads(WORLD + f"domains: {{a.com: {text}}}\n").state, "a.com")


def test_a_domain_needs_nothing_but_its_name() -> None:
    """It is then the first account's, active since 100 days for a year, with the account's own contact."""
    made = stands("")
    assert (made.account, made.stage, made.id) == (1001, Stage.ACTIVE, 100001)
    assert (made.created, made.expires) == (NOW - timedelta(days=100), NOW + timedelta(days=265))
    assert (made.since, made.due) == (made.created, made.expires)
    assert set(made.contacts.handles()) == {"A1001"}
    assert len(made.auth_code) == 12


def test_an_account_needs_nothing_but_its_contact() -> None:
    """Its id is the next free one, and its credentials are made of its name."""
    text = "accounts: {one: {client_id: 1001, contact: {}}, two: {contact: {}}}\n"
    two = loads(text).state.accounts[1002]
    assert (two.name, two.key, two.secret, two.token) == ("two", "two-key", "two-secret", "two-token")
    assert (two.currency, two.balance, two.reseller, two.contact) == ("USD", 0, True, "A1002")


@pytest.mark.parametrize(
    ("text", "stage", "created", "expires", "since"),
    [
        ("{created: -3y}", "active", "2023-01-15", "2027-01-15", "2023-01-15"),
        ("{expires: +3d}", "active", "2025-01-18", "2026-01-18", "2025-01-18"),
        ("{created: 2024-02-29}", "active", "2024-02-29", "2026-02-28", "2024-02-29"),
        ("{stage: requested}", "requested", "2026-01-15", "2027-01-15", "2026-01-15"),
        ("{stage: overdue}", "overdue", "2025-01-15", "2026-01-15", "2026-01-15"),
        ("{stage: overdue, expires: -10d}", "overdue", "2025-01-05", "2026-01-05", "2026-01-05"),
        ("{stage: redemption}", "redemption", "2024-12-16", "2025-12-16", "2026-01-15"),
        ("{stage: redemption, expires: +200d}", "redemption", "2025-08-03", "2026-08-03", "2026-01-15"),
        ("{stage: redemption, expires: -40d}", "redemption", "2024-12-06", "2025-12-06", "2026-01-05"),
        ("{stage: pending_delete}", "pending_delete", "2024-11-16", "2025-11-16", "2026-01-15"),
    ],
)
def test_dates_left_out_follow_from_the_stage(
    text: str, stage: str, created: str, expires: str, since: str
) -> None:
    """Whatever is given, the rest is what would have come of it had nobody touched the name."""
    made = stands(text)
    days = [instant.strftime("%Y-%m-%d") for instant in (made.created, made.expires, made.since)]
    assert [str(made.stage), *days] == [stage, created, expires, since]


def test_relative_dates_move_with_now_and_absolute_ones_do_not() -> None:
    """``load(now=…)`` moves the world as a whole."""
    text = WORLD + "domains: {a.com: {created: -400d, expires: +1y}, b.com: {created: 2020-06-01}}\n"
    later = NOW + timedelta(days=1000)
    here, there = loads(text).state, loads(text, now=later).state
    assert order(there, "a.com").created == later - timedelta(days=400)
    assert order(there, "a.com").created - order(here, "a.com").created == later - NOW
    assert order(there, "b.com").created == order(here, "b.com").created == datetime(2020, 6, 1, tzinfo=UTC)


def test_the_default_world_moves_as_a_whole() -> None:
    """Started at another instant, every date of the packaged world is as far from now as before."""
    here = load(find("default"))
    there = load(find("default"), now=here.now + timedelta(days=365))
    assert there.now == here.now + timedelta(days=365)
    for number, held in here.state.orders.items():
        if held.stage not in (Stage.ACTIVE, Stage.ARRIVING):
            assert there.state.orders[number].due == (held.due or here.now) + timedelta(days=365)


def test_a_date_is_utc_unless_it_says_otherwise() -> None:
    """A time without an offset is UTC, and one with an offset is turned into UTC."""
    assert stands("{created: 2025-06-01T10:00:00}").created == datetime(2025, 6, 1, 10, tzinfo=UTC)
    assert stands("{created: '2025-06-01 10:00+02:00'}").created == datetime(2025, 6, 1, 8, tzinfo=UTC)


def test_the_seed_decides_the_codes_that_are_left_open() -> None:
    """Codes follow from seed and name, whatever else is in the file; those that are given stay."""
    text = WORLD + "domains: {a.com: , b.com: {auth_code: Given-1}}\n"
    first, second = loads(text).state, loads(text, seed="two").state
    alone = loads(WORLD + "taken: [x.com]\ndomains: {a.com: }\n").state
    assert order(first, "a.com").auth_code == order(alone, "a.com").auth_code
    assert order(first, "a.com").auth_code != order(second, "a.com").auth_code
    assert order(first, "b.com").auth_code == order(second, "b.com").auth_code == "Given-1"
    assert second.seed == "two"


def test_names_may_be_unicode_or_ascii() -> None:
    """A zone may be a single internationalised label; names, hosts and labels have one spelling inside."""
    text = (
        f"zones: {{com: {PRICES}, укр: {PRICES}}}\n".replace("{prices", "{idn: true, prices")
        + "accounts: {main: {contact: {}}}\n"
        + "domains: {España.COM.: {hosts: {Ns1: [192.0.2.1]}}, приклад.укр: }\n"
    )
    state = loads(text).state
    assert sorted(state.holding_order) == ["xn--80aikifvh.xn--j1amh", "xn--espaa-rta.com"]
    assert sorted(state.zones) == ["com", "xn--j1amh"]
    assert sorted(state.hosts) == ["ns1.xn--espaa-rta.com"]


def test_prices_are_exact() -> None:
    """An amount is what is written, to the last digit, and never a float."""
    text = WORLD.replace("8.99", "0.1").replace("9.99", "1234567890.12345678")
    prices = loads(text).state.zones["com"].prices
    assert (prices.registration, prices.renewal) == (Decimal("0.1"), Decimal("1234567890.12345678"))


def test_a_balance_is_what_there_is_after_the_ledger() -> None:
    """What the account opened with follows, so that balance = opening + entries."""
    entries = "ledger: {1: {at: -2d, amount: -8.99, purpose: registration, domain: a.com, years: 1}}\n"
    state = loads(WORLD + "domains: {a.com: {registration: [1]}}\n" + entries).state
    account = state.accounts[1001]
    assert (account.balance, account.opening) == (Decimal("50.00"), Decimal("58.99"))
    assert (state.ledger[1].purpose, state.ledger[1].cause) == (Purpose.REGISTRATION, "fixture")


def test_taken_names_are_other_registrars_orders() -> None:
    """They are the outside account's, renew themselves unless told otherwise, and can be locked."""
    text = "taken: {a.com: {locked: true}, b.com: {autorenew: false}}\n"
    state = loads(WORLD + text).state
    first, second = order(state, "a.com"), order(state, "b.com")
    assert (first.account, first.flags, first.autorenew) == (OUTSIDE, {Flag.TRANSFER_PROHIBITED}, True)
    assert (second.flags, second.autorenew, second.nameservers) == (frozenset(), False, ())
    assert loads(WORLD + "taken: [a.com, b.com]\n").state.holding_order.get("b.com") is not None


def test_the_outside_account_is_always_there() -> None:
    """It has no credentials, and no fixture needs to name it."""
    state = loads("seed: x\n").state
    assert state.accounts[OUTSIDE].contact in state.contacts
    assert not list(state.account_by_key)


def test_a_pending_transfer_brings_its_order_and_its_charge() -> None:
    """The one that wants the name has an arriving order, and has paid the transfer price."""
    state = loads(WORLD + "taken: [a.com]\ntransfers: {a.com: {to: main, requested: -2d}}\n").state
    transfer = state.transfers["a.com"]
    arriving = state.orders[transfer.gaining_order]
    assert (transfer.status, transfer.losing, transfer.gaining) == (TransferStatus.PENDING, OUTSIDE, 1001)
    assert transfer.completes == NOW + timedelta(days=3)
    assert (arriving.stage, arriving.expires) == (Stage.ARRIVING, order(state, "a.com").expires)
    assert [state.ledger[number].amount for number in transfer.charges] == [Decimal("-7.99")]
    assert state.accounts[1001].balance == Decimal("50.00")


def test_a_past_transfer_names_the_other_party_only() -> None:
    """Who holds the name now is the gaining one of an approved transfer, and the losing one of any other."""
    state = loads(
        WORLD
        + "domains: {a.com: , b.com: }\n"
        + "transfers:\n"
        + "  a.com: {from: outside, status: serverApproved}\n"
        + "  b.com: {to: outside, status: clientRejected}\n"
    ).state
    approved, rejected = state.transfers["a.com"], state.transfers["b.com"]
    assert (approved.gaining_order, approved.losing) == (order(state, "a.com").id, OUTSIDE)
    assert (rejected.losing_order, rejected.gaining) == (order(state, "b.com").id, OUTSIDE)
    assert state.counters["order"] == max(approved.losing_order, rejected.gaining_order)


def test_what_others_will_do_is_planned() -> None:
    """A plan is made of an action and what it is told, and waits for an instant or for a request."""
    state = loads(
        WORLD
        + "plans:\n"
        + "  1: {action: register, given: {domain: A.com, autorenew: false}, at: +3d}\n"
        + "  2:\n"
        + "    action: set_prices\n"
        + "    given: {zone: com, renewal: 14.99}\n"
        + "    after: {operation: v3.*, domain: B.com}\n"
    ).state
    first, second = state.plans[1], state.plans[2]
    assert (first.action, first.given) == ("register", (("autorenew", False), ("domain", "a.com")))
    assert (first.at, first.after) == (NOW + timedelta(days=3), None)
    assert (second.given, second.at) == ((("renewal", Decimal("14.99")), ("zone", "com")), None)
    assert second.after == After(operation="v3.*", name="b.com", answer="accepted")


def test_order_ids_are_given_in_the_order_of_the_file() -> None:
    """From 100001 on, past those that are given; the counter goes on from the highest."""
    state = loads(WORLD + "domains: {c.com: , a.com: {id: 100002}, b.com: }\ntaken: [d.com]\n").state
    assert [order(state, f"{letter}.com").id for letter in "cabd"] == [100001, 100002, 100003, 100004]
    assert state.counters["order"] == 100004


def test_assumptions_are_given_as_they_are_written() -> None:
    """A bare ``on`` is the word ``on`` where that is a value, and a list is a list."""
    text = "assume: {v3.get_domain.order_id: on, v2.versions: [V2.0, V2.1], v2.order_processing: 30}\n"
    assert loads(text).assume == {
        "v3.get_domain.order_id": "on",
        "v2.versions": ["V2.0", "V2.1"],
        "v2.order_processing": "30",
    }


def test_orders_are_processed_as_long_as_the_fixture_assumes() -> None:
    """The assumption decides when a requested order moves on, unless the order says."""
    text = WORLD + "assume: {v2.order_processing: 30}\ndomains: {a.com: {stage: requested}}\n"
    assert order(loads(text).state, "a.com").due == NOW + timedelta(seconds=30)


def test_what_a_fixture_leaves_open_about_its_world() -> None:
    """Without ``frozen`` nothing is said of the clock; without ``now`` time begins where it is documented."""
    assert loads("seed: x\n").frozen is None
    assert loads("frozen: true\n").frozen is True
    assert loads("seed: x\n").now == NOW


def test_anchors_and_merge_keys_may_be_used() -> None:
    """What is the same in several entries need be written once; an entry's own keys win."""
    text = (
        "zones:\n"
        "  com: &usual\n"
        "    prices: &prices {registration: 8.99, renewal: 9.99, transfer: 8.99, restore: 80.00}\n"
        "    min_years: 2\n"
        "  net: {<<: *usual, min_years: 3}\n"
        "  org: {prices: *prices}\n"
    )
    zones = loads(text).state.zones
    assert [zones[name].min_years for name in ("com", "net", "org")] == [2, 3, 1]
    assert zones["net"].prices == zones["com"].prices == zones["org"].prices


def test_sections_can_be_taken_from_a_packaged_fixture() -> None:
    """``include`` takes whole sections; entries of the including file come on top."""
    text = "include: {default: [zones, accounts]}\n" + f"zones: {{example: {PRICES}, com: {PRICES}}}\n"
    state, default = loads(text).state, load(find("default")).state
    assert set(state.zones) == {*default.zones, "example"}
    assert state.zones["com"].prices.registration == Decimal("8.99")
    assert not list(state.orders)


def test_sections_can_be_taken_from_a_file_beside_the_fixture(tmp_path: Path) -> None:
    """Mistakes in an included section are told with the file that they are in."""
    (tmp_path / "zones.yaml").write_text(f"zones: {{com: {PRICES}}}\nseed: other\n", encoding="utf-8")
    whole = tmp_path / "whole.yaml"
    whole.write_text("include: {zones.yaml: [zones]}\ntaken: [a.com]\n", encoding="utf-8")
    state = load(whole).state
    assert (list(state.holding_order), state.seed) == (["a.com"], State().seed)
    (tmp_path / "zones.yaml").write_text("zones: {com: {}}\n", encoding="utf-8")
    with pytest.raises(FixtureError) as caught:
        load(whole)
    assert str(caught.value) == f"{tmp_path / 'zones.yaml'}:1:14: 'prices' is missing here"


def test_fixtures_that_include_each_other_are_told_so(tmp_path: Path) -> None:
    """A circle of includes ends in a mistake, not in a loop."""
    circle = tmp_path / "circle.yaml"
    circle.write_text("include: {circle.yaml: [zones]}\n", encoding="utf-8")
    with pytest.raises(FixtureError, match="fixtures include one another more than 8 times over"):
        load(circle)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"seed: a\nzones: {\xff: 1}\n", "2:9: byte 0xff is not UTF-8, which fixtures are written in"),
        ("seed: é\n".encode("latin-1"), "1:7: byte 0xe9 is not UTF-8, which fixtures are written in"),
    ],
)
def test_a_file_that_is_not_utf_8_is_told_so(tmp_path: Path, content: bytes, message: str) -> None:
    """With the place of the first byte that cannot be read."""
    path = tmp_path / "f.yaml"
    path.write_bytes(content)
    with pytest.raises(FixtureError) as caught:
        load(path)
    assert str(caught.value) == f"{path}:{message}"


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    """Some editors write one; columns count from after it."""
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfseed: x\n")
    assert load(path).state.seed == "x"


def test_a_file_that_is_too_large_is_not_read_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is told."""
    monkeypatch.setattr(reader, "LARGEST", 1024 * 1024)
    path = tmp_path / "f.yaml"
    path.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(FixtureError) as caught:
        load(path)
    assert str(caught.value) == f"{path}: it has 1048577 bytes; at most 1 MiB are read"


def test_a_file_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    """As a mistake about the file as a whole."""
    with pytest.raises(FixtureError, match=r"f\.yaml: it cannot be read: No such file"):
        load(tmp_path / "f.yaml")


def test_find_knows_packaged_names_and_paths(tmp_path: Path) -> None:
    """A bare name is a packaged fixture; anything else a path."""
    assert find("default").name == "default.yaml"
    mine = tmp_path / "mine.yaml"
    mine.write_text("seed: x\n", encoding="utf-8")
    assert find(str(mine)) == mine


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("defualt", "defualt: there is no such fixture; the nearest is 'default'"),
        (
            "no/where.yaml",
            "no/where.yaml: there is no such fixture; the packaged ones are default, empty, example",
        ),
        ("nul\0", "nul\0: there is no such fixture; the packaged ones are default, empty, example"),
    ],
)
def test_find_names_the_nearest_fixture(name: str, message: str) -> None:
    """A name that is neither is answered with what there is."""
    with pytest.raises(FixtureError) as caught:
        find(name)
    assert str(caught.value) == message


def test_the_example_is_small_and_loads() -> None:
    """It is what people copy from: under thirty lines, one account, two zones."""
    path = find("example")
    state = load(path).state
    assert len(path.read_text(encoding="utf-8").splitlines()) < 30
    assert (len(state.accounts), len(state.zones), len(state.orders)) == (2, 2, 3)


def test_the_empty_fixture_has_the_default_zones_and_accounts_alone() -> None:
    """Not a single name, and no contact but the accounts' own."""
    empty, default = load(find("empty")), load(find("default"))
    assert empty.now == default.now
    assert empty.state.zones == default.state.zones
    assert {a.key: a.balance for a in empty.state.accounts.values()} == {
        a.key: a.balance for a in default.state.accounts.values()
    }
    assert not list(empty.state.orders)
    assert set(empty.state.contacts) == {"A1001", "A2002", "A3003", "OUTSIDE"}


def test_the_default_world_has_the_accounts_that_are_documented() -> None:
    """With their credentials, and exactly the balances that examples count on."""
    accounts = load(find("default")).state.accounts
    found = {
        number: (a.name, a.key, a.secret, a.token, str(a.balance), a.currency)
        for number, a in accounts.items()
        if number != OUTSIDE
    }
    assert found == {
        1001: ("main", "sandbox-key", "sandbox-secret", "sandbox-token", "10000.00", "USD"),
        2002: ("other", "other-key", "other-secret", "other-token", "10000.00", "USD"),
        3003: ("poor", "poor-key", "poor-secret", "poor-token", "5.00", "USD"),
    }


def test_the_default_world_has_one_of_everything() -> None:
    """Each stage, each flag and each kind of zone is there in main's account to be tried."""
    state = load(find("default")).state
    own = [held for held in state.orders.values() if held.account == 1001]
    zones = state.zones.values()
    assert {held.stage for held in own} == set(Stage) - {Stage.RELEASED}
    assert {flag for held in own for flag in held.flags} == set(Flag)
    assert {kind for zone in zones for kind in zone.types} == set(schema.ZONE_TYPES)
    for trait in ("license", "premium", "reserved", "registration_promotion", "renewal_promotion", "idn"):
        assert any(getattr(zone, trait) for zone in zones), trait
    assert any(not zone.hosts for zone in zones)
    assert any(not zone.transfers for zone in zones)
    assert any(not zone.in_service for zone in zones)
    assert any(zone.prices.owner_change for zone in zones)
    assert any(zone.min_years > 1 for zone in zones)
    assert len(state.contact_params) == 2


def test_every_key_of_the_format_is_described() -> None:
    """The reference of the format is the schema's docstring, and leaves nothing out."""
    text = schema.__doc__ or ""
    words = set(text.replace("``", " ").replace("*", " ").replace(":", " ").replace(",", " ").split())
    words |= {word.strip("{}[].()") for word in words}

    def keys(field: fields.Field[object]) -> set[str]:
        if isinstance(field, fields.Nested):
            return {
                key
                for name, inner in field.schema.fields.items()
                for key in (inner.data_key or name, *keys(inner))
            }
        inner = getattr(field, "value_field", None) or getattr(field, "inner", None)
        return keys(inner) if inner is not None else set()

    sections = schema.FixtureSchema().fields
    assert {key for name, field in sections.items() for key in (name, *keys(field))} <= words


def test_a_fixture_is_the_same_under_any_hash_seed() -> None:
    """Reading and writing depend on the file alone."""
    code = (
        "from sandbox.seeds import dumps, find, load; from zlib import crc32;"
        "seed = load(find('default')); print(crc32(dumps(seed.state, seed.now).encode()))"
    )
    root = Path(__file__).parents[2]
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": value, "PYTHONPATH": str(root)},
            cwd=root,
            capture_output=True,
            check=True,
        ).stdout
        for value in ("1", "2")
    }
    assert len(printed) == 1
