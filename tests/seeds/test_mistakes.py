"""Every mistake in a fixture is told with its file, line, column, what was found, and what would do."""

from __future__ import annotations

import pytest

from sandbox.seeds import FixtureError, Problem, loads

ZONE = "zones: {com: {prices: {registration: 8.99, renewal: 9.99, transfer: 8.99, restore: 80.00}}}\n"
WORLD = ZONE + "accounts: {main: {contact: {name: Mary Example}}}\n"


def told(text: str) -> list[str]:
    """The mistakes in ``text``, a line each."""
    with pytest.raises(FixtureError) as caught:
        loads(text, name="w.yaml")
    return str(caught.value).splitlines()


#: What stands in the file, and all that is said about it. ``WORLD`` has two lines, so these begin in line 3.
TRAPS = {
    "a bare no for Norway": (
        "contacts: {C1: {country: NO}}",
        "w.yaml:3:26: YAML reads a bare NO as false; write 'NO' in quotes",
    ),
    "a bare no as a zone": ("zones2: 1", "w.yaml:3:1: unknown key 'zones2'; the nearest is 'zones'"),
    "a bare yes for text": (
        "contacts: {C1: {name: yes}}",
        "w.yaml:3:23: YAML reads a bare yes as true; write 'yes' in quotes",
    ),
    "a zip with a leading zero": (
        "contacts: {C1: {zip: 01001}}",
        "w.yaml:3:22: YAML reads a bare 01001 as the number 513; write '01001' in quotes",
    ),
    "a phone that YAML takes for a fraction": (
        "contacts: {C1: {phone: 380.441234567}}",
        "w.yaml:3:24: YAML reads a bare 380.441234567 as the number 380.441234567; "
        "write '380.441234567' in quotes",
    ),
    "a phone with its plus": (
        "contacts: {C1: {phone: +380.441234567}}",
        "w.yaml:3:24: YAML reads a bare +380.441234567 as the number 380.441234567; "
        "write '+380.441234567' in quotes",
    ),
    "a code of digits": (
        "domains: {a.com: {auth_code: 123456}}",
        "w.yaml:3:30: YAML reads a bare 123456 as the number 123456; write '123456' in quotes",
    ),
    "a time that YAML takes for a number to the base of 60": (
        "contacts: {C1: {name: 12:30}}",
        "w.yaml:3:23: YAML reads a bare 12:30 as the number 750; write '12:30' in quotes",
    ),
    "a date for text": (
        "contacts: {C1: {name: 2026-01-31}}",
        "w.yaml:3:23: YAML reads a bare 2026-01-31 as a date; write '2026-01-31' in quotes",
    ),
    "nothing for text": (
        "contacts: {C1: {name: }}",
        "w.yaml:3:23: a text is wanted here, not nothing; write '' for an empty one",
    ),
    "an octal number": (
        "domains: {a.com: {id: 012}}",
        "w.yaml:3:23: YAML reads 012 as the number 10; write a number in decimal digits",
    ),
    "a number in quotes": (
        "domains: {a.com: {id: '12'}}",
        "w.yaml:3:23: a whole number is wanted here, without quotes, not '12'",
    ),
    "a fraction for a whole number": (
        "domains: {a.com: {id: 7.0}}",
        "w.yaml:3:23: a whole number is wanted here, not '7.0'",
    ),
    "a number that is too small": (
        "domains: {a.com: {years: 0}}",
        "w.yaml:3:26: at least 1 is wanted here, not 0",
    ),
    "a number that is too large": (
        "domains: {a.com: {years: 11}}",
        "w.yaml:3:26: at most 10 is wanted here, not 11",
    ),
    "yes for a switch": (
        "domains: {a.com: {autorenew: yes}}",
        "w.yaml:3:30: true or false is wanted here, not 'yes'",
    ),
    "a switch in quotes": (
        "domains: {a.com: {autorenew: 'true'}}",
        "w.yaml:3:30: true or false is wanted here, not 'true'",
    ),
    "an unknown key": (
        "domains: {a.com: {autoreneww: true}}",
        "w.yaml:3:19: unknown key 'autoreneww'; the nearest is 'autorenew'",
    ),
    "an unknown word": (
        "domains: {a.com: {stage: actve}}",
        "w.yaml:3:26: unknown word 'actve'; the nearest is 'active'",
    ),
    "a word with nothing near": (
        "domains: {a.com: {stage: gone}}",
        "w.yaml:3:26: unknown word 'gone'; it is one of requested, processing, active, overdue, "
        "redemption, pending_delete",
    ),
    "an unknown zone": (
        "domains: {a.comm: }",
        "w.yaml:3:11: No zone of this service holds a.comm; the nearest is 'com'",
    ),
    "an unknown account": (
        "domains: {a.com: {account: mian}}",
        "w.yaml:3:28: unknown account 'mian'; the nearest is 'main'",
    ),
    "an unknown contact": (
        "domains: {a.com: {contacts: {tech: A1002}}}",
        "w.yaml:3:36: unknown contact 'A1002'; the nearest is 'A1001'",
    ),
    "an unknown customer": ("domains: {a.com: {customer: 7}}", "w.yaml:3:29: unknown customer 7"),
    "an unknown assumption": (
        "assume: {v3.name.form: ascii}",
        "w.yaml:3:10: 'v3.name.form' is no assumption; the nearest is v3.names.form",
    ),
    "an unknown value of an assumption": (
        "assume: {v3.names.form: punycode}",
        "w.yaml:3:25: v3.names.form takes one of as_asked, unicode, ascii, not 'punycode'",
    ),
    "a label that is none": (
        "domains: {-a.com: }",
        "w.yaml:3:11: '-a.com' is not a name: its label '-a' has something other than letters, digits "
        "and inner hyphens",
    ),
    "an internationalised name in a zone without": (
        "domains: {ñ.com: }",
        "w.yaml:3:11: 'ñ.com' is not a name that can be registered: com takes no internationalised names",
    ),
    "a name below a name": (
        "domains: {b.a.com: }",
        "w.yaml:3:11: 'b.a.com' is not a name that can be registered: it lies more than one label below com",
    ),
    "a key that is there twice": (
        "domains:\n  a.com:\n  b.com:\n  a.com:",
        "w.yaml:6:3: the key 'a.com' is there already, in line 4",
    ),
    "a name in two spellings": ("domains: {a.com: , A.com: }", "w.yaml:3:20: 'A.com' is held already"),
    "a name both held and taken": (
        "domains: {a.com: }\ntaken: [b.com, a.com]",
        "w.yaml:4:16: 'a.com' is held already",
    ),
    "a name that is taken twice": ("taken: [a.com, a.com]", "w.yaml:3:16: 'a.com' is there twice"),
    "a date that does not exist": (
        "domains: {a.com: {created: 2025-02-29}}",
        "w.yaml:3:28: there is no such date: '2025-02-29'",
    ),
    "a length without its unit": (
        "domains: {a.com: {created: -30}}",
        "w.yaml:3:28: a date such as 2026-01-31 or -30d is wanted here, not '-30'",
    ),
    "a length without its sign": (
        "domains: {a.com: {created: 30d}}",
        "w.yaml:3:28: a date such as 2026-01-31 or -30d is wanted here, not '30d'",
    ),
    "a date too far away": (
        "domains: {a.com: {created: -1000y}}",
        "w.yaml:3:28: a date lies in the years 1900 to 2999; this is too far away",
    ),
    "a relative now": (
        "now: -3d",
        "w.yaml:3:6: a date such as 2026-01-31T10:00:00Z is wanted here, not '-3d'",
    ),
    "an end before its beginning": (
        "domains: {a.com: {created: -10d, expires: -20d}}",
        "w.yaml:3:43: it expires before it is created",
    ),
    "a creation to come": ("domains: {a.com: {created: +10d}}", "w.yaml:3:28: it is created after now"),
    "a stage to come": ("domains: {a.com: {since: +10d}}", "w.yaml:3:26: it enters its stage after now"),
    "an overdue order that has not expired": (
        "domains: {a.com: {stage: overdue, expires: +5d}}",
        "w.yaml:3:44: an overdue order has expired, and this date is after now",
    ),
    "a host elsewhere": (
        "domains: {a.com: {hosts: {ns_1: [192.0.2.1]}}}",
        "w.yaml:3:27: 'ns_1' is no host name: its label 'ns_1' has something other than letters, digits "
        "and inner hyphens",
    ),
    "a bad address": (
        "domains: {a.com: {hosts: {ns1: [192.0.2.1, 192.0.2.256]}}}",
        "w.yaml:3:44: '192.0.2.256' is not an IP address",
    ),
    "an address twice": (
        "domains: {a.com: {hosts: {ns1: [192.0.2.1, 192.0.2.1]}}}",
        "w.yaml:3:44: '192.0.2.1' is there twice",
    ),
    "a host without an address": (
        "domains: {a.com: {hosts: {ns1: []}}}",
        "w.yaml:3:32: 0 addresses; a host has 1 to 13",
    ),
    "a bad name server": (
        "domains: {a.com: {nameservers: [ns1.example.net, ns2]}}",
        "w.yaml:3:50: 'ns2' is not a host name: it has no zone",
    ),
    "a name server twice": (
        "domains: {a.com: {nameservers: [ns1.example.net, NS1.example.net]}}",
        "w.yaml:3:50: 'NS1.example.net' is there twice",
    ),
    "a ledger entry that is not there": (
        "domains: {a.com: {registration: [3]}}",
        "w.yaml:3:34: there is no ledger entry 3",
    ),
    "an order id twice": (
        "domains: {a.com: {id: 5}, b.com: {id: 5}}",
        "w.yaml:3:39: the order id 5 is there already",
    ),
    "a counter below what is in use": (
        "domains: {a.com: {id: 500000}}\ncounters: {order: 200000}",
        "w.yaml:4:19: the number 500000 is in use already, and this is 200000",
    ),
    "a transfer of nothing": (
        "taken: [one.com]\ntransfers: {ones.com: {to: main}}",
        "w.yaml:4:13: neither domains nor taken has 'ones.com'; the nearest is 'one.com'",
    ),
    "a transfer to nobody": (
        "taken: [one.com]\ntransfers: {one.com: {requested: -2d}}",
        "w.yaml:4:22: 'to' is missing here",
    ),
    "a transfer to its holder": (
        "domains: {one.com: }\ntransfers: {one.com: {to: main}}",
        "w.yaml:4:27: main holds the name already",
    ),
    "a transfer from somebody else": (
        "domains: {one.com: }\ntaken: [two.com]\ntransfers: {two.com: {from: main, to: main}}",
        "w.yaml:5:29: main does not hold the name",
    ),
    "a transfer at the wrong time": (
        "taken: {one.com: {stage: redemption}}\ntransfers: {one.com: {to: main}}",
        "w.yaml:4:13: a name that is redemption cannot be leaving",
    ),
    "an arriving order of a past transfer": (
        "taken: [one.com]\ntransfers: {one.com: {to: main, status: clientRejected, order: {}}}",
        "w.yaml:4:57: only a pending transfer has an arriving order",
    ),
    "an extra parameter that is not there": (
        "contact_params: {passport: '[0-9]+'}\ncontacts: {C1: {extra: {pasport: '1'}}}",
        "w.yaml:4:25: unknown parameter 'pasport'; the nearest is 'passport'",
    ),
    "an extra parameter that does not match": (
        "contact_params: {passport: '[0-9]+'}\ncontacts: {C1: {extra: {passport: 'A1'}}}",
        "w.yaml:4:35: 'A1' does not match '[0-9]+'",
    ),
    "a pattern that does not compile": (
        "contact_params: {passport: '[0-9'}",
        "w.yaml:3:28: '[0-9' is not a regular expression: unterminated character set at position 0",
    ),
    "one mail for two customers": (
        "customers: {1: {mail: a@example.com}, 2: {mail: A@example.com}}",
        "w.yaml:3:49: the mail 'A@example.com' is that of customer 1 already",
    ),
    "a handle twice": (
        "contacts: {A1001: {name: Somebody}}",
        "w.yaml:3:12: the contact 'A1001' is there already",
    ),
    "a refund of nothing": (
        "ledger: {1: {at: -1d, amount: -5.00, purpose: renewal, refunds: 9}}",
        "w.yaml:3:65: there is no ledger entry 9",
    ),
    "a plan of nothing known": (
        "plans: {1: {action: registr, at: +1d}}",
        "w.yaml:3:21: unknown word 'registr'; the nearest is 'register'",
    ),
    "a plan with a parameter that is not known": (
        "plans: {1: {action: hold, given: {domain: a.com, domian: b.com}, at: +1d}}",
        "w.yaml:3:50: unknown key 'domian'; the nearest is 'domain'",
    ),
    "a plan with a parameter missing": (
        "plans: {1: {action: hold, at: +1d}}",
        "w.yaml:3:12: 'domain' is missing here",
    ),
    "a plan with a bad parameter": (
        "plans: {1: {action: set_service, given: {zone: com, in_service: yes}, at: +1d}}",
        "w.yaml:3:65: in_service must be true or false",
    ),
    "a plan in no zone": (
        "plans: {1: {action: register, given: {domain: a.moc}, at: +1d}}",
        "w.yaml:3:38: No zone of this service holds a.moc",
    ),
    "a plan for no time": (
        "plans: {1: {action: hold, given: {domain: a.com}}}",
        "w.yaml:3:9: a plan has either 'at' or 'after'",
    ),
    "a fault of no kind": (
        "faults: {f: {knid: reset}}",
        "w.yaml:3:13: kind is missing; it must be one of error, latency, drip, hang, reset, close, truncate, "
        "garbage, mutate, rate_limit, duplicate, stale",
    ),
    "a fault with a bad part": (
        "faults: {f: {kind: reset, when: {phase: during}}}",
        "w.yaml:3:41: when.phase must be before or after",
    ),
    "a fault with a part that is not known": (
        "faults: {f: {kind: reset, match: {opration: v3.*}}}",
        "w.yaml:3:35: match.opration is not known here; the nearest is operation",
    ),
    "a fault from no instant": (
        "faults: {f: {kind: reset, when: {from: someday}}}",
        "w.yaml:3:40: a date such as 2026-01-31 or -30d is wanted here, not 'someday'",
    ),
    "a fault that has counted nonsense": (
        "faults: {f: {kind: reset, matched: many}}",
        "w.yaml:3:36: matched must be a whole number",
    ),
    "a fault that is none": ("faults: {f: reset}", "w.yaml:3:13: a mapping is wanted here, not 'reset'"),
    "a mapping for text": (
        "contacts: {C1: {name: {first: Mary}}}",
        "w.yaml:3:23: a text is wanted here, not a mapping",
    ),
    "a list for a mapping": ("domains: [a.com]", "w.yaml:3:10: a mapping is wanted here, not a list"),
    "text for a list": (
        "domains: {a.com: {flags: client_hold}}",
        "w.yaml:3:26: a list is wanted here, not 'client_hold'",
    ),
    "text for a mapping": (
        "domains: {a.com: {contacts: A1001}}",
        "w.yaml:3:29: a mapping is wanted here, not 'A1001'",
    ),
    "a custom tag": (
        "seed: !!python/object/apply:os.system [ls]",
        "w.yaml:3:7: the tag '!!python/object/apply:os.system' is not used in fixtures; leave it out",
    ),
    "an alias without its anchor": (
        "seed: *nowhere",
        "w.yaml:3:7: the alias '*nowhere' repeats an anchor that is not there",
    ),
    "an alias inside its anchor": (
        "taken: &t [*t]",
        "w.yaml:3:12: the alias '*t' stands inside what it repeats",
    ),
    "a merge of something else": (
        "domains: {a.com: {<<: 3}}",
        "w.yaml:3:23: '<<' takes a mapping, or a list of mappings, not '3'",
    ),
    "a second document": (
        "---\nseed: x",
        "w.yaml:3:1: a second document begins here; a fixture is a single one",
    ),
    "an unknown section to include": (
        "include: {default: [zone]}",
        "w.yaml:3:21: unknown word 'zone'; the nearest is 'zones'",
    ),
    "an unknown fixture to include": (
        "include: {defualt: [zones]}",
        "w.yaml:3:11: cannot include 'defualt': it is not a packaged fixture",
    ),
}


@pytest.mark.parametrize("case", TRAPS)
def test_a_mistake_is_told_in_its_place(case: str) -> None:
    """One mistake in an otherwise good file is told, alone, with line, column, value and remedy."""
    text, message = TRAPS[case]
    assert told(WORLD + text + "\n") == [message]


ZONES = {
    "a bare no as a zone": (
        "no: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}",
        "w.yaml:2:3: YAML reads a bare no as false; write 'no' in quotes",
    ),
    "a price missing": (
        "com: {prices: {registration: 1, renewal: 1, transfer: 1}}",
        "w.yaml:2:17: 'restore' is missing here",
    ),
    "no prices": ("com:", "w.yaml:2:3: 'prices' is missing here"),
    "terms the wrong way round": (
        "com: {min_years: 3, max_years: 2, prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}",
        "w.yaml:2:20: min_years is 3 and max_years is 2: no period would do",
    ),
    "more than ten years": (
        "com: {max_years: 11, prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}",
        "w.yaml:2:20: at most 10 is wanted here, not 11",
    ),
    "a negative period": (
        "com: {policy: {overdue: -1}, prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}",
        "w.yaml:2:27: at least 0 is wanted here, not -1",
    ),
    "an unknown type": (
        "com: {types: [populer], prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}",
        "w.yaml:2:17: unknown word 'populer'; the nearest is 'popular'",
    ),
    "a licence pattern that does not compile": (
        "com: {license: '(', prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}",
        "w.yaml:2:18: '(' is not a regular expression: missing ), unterminated subpattern at position 0",
    ),
    "a reserved name instead of a label": (
        "com: {reserved: [a.com], prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}",
        "w.yaml:2:20: 'a.com' is not a label: it has a dot, and is to be one label",
    ),
    "one zone in two spellings": (
        "com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}\n"
        "  COM: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}",
        "w.yaml:3:3: the zone 'COM' is there already",
    ),
    "a zone that is none": (
        "-x: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}",
        "w.yaml:2:3: '-x' is not a zone: its label '-x' has something other than letters, digits and inner "
        "hyphens",
    ),
}


@pytest.mark.parametrize("case", ZONES)
def test_a_mistake_in_a_zone_is_told_in_its_place(case: str) -> None:
    """One mistake in a zone is told, alone, with line, column, value and remedy."""
    text, message = ZONES[case]
    assert told(f"zones:\n  {text}\n") == [message]


@pytest.mark.parametrize(
    ("amount", "kind"),
    [
        (".nan", "an amount such as 8.99 is wanted here, not '.nan'"),
        (".inf", "an amount such as 8.99 is wanted here, not '.inf'"),
        ("1e5", "an amount such as 8.99 is wanted here, not '1e5'"),
        ("012", "an amount such as 8.99 is wanted here, not '012'"),
        ("1_000.00", "an amount such as 8.99 is wanted here, not '1_000.00'"),
        ("12:30", "an amount such as 8.99 is wanted here, not '12:30'"),
        ("free", "an amount such as 8.99 is wanted here, not 'free'"),
        ("-1.00", "an amount cannot be negative here: '-1.00'"),
    ],
)
def test_what_is_no_amount_is_not_taken_for_one(amount: str, kind: str) -> None:
    """A price is a plain decimal number from zero up, and nothing that YAML would make a float of."""
    prices = f"registration: {amount}, renewal: 1, transfer: 1, restore: 1"
    assert told(f"zones: {{com: {{prices: {{{prices}}}}}}}\n") == [f"w.yaml:1:38: {kind}"]


ACCOUNTS = {
    "no contact": ("main: {key: k}", ["w.yaml:2:9: 'contact' is missing here"]),
    "a contact that is not there": ("main: {contact: C1}", ["w.yaml:2:19: unknown contact 'C1'"]),
    "a key that is another's": (
        "main: {contact: {}, key: k}\n  more: {contact: {}, key: k}",
        ["w.yaml:3:28: the key 'k' is that of main already"],
    ),
    "a token that is another's": (
        "main: {contact: {}, token: t}\n  more: {contact: {}, token: t}",
        ["w.yaml:3:30: the token 't' is that of main already"],
    ),
    "a client id that is another's": (
        "main: {contact: {}, client_id: 7}\n  more: {contact: {handle: B}, client_id: 7}",
        ["w.yaml:3:43: the client_id '7' is that of main already"],
    ),
    "a balance below zero": (
        "main: {contact: {}, balance: -5.00}",
        ["w.yaml:2:32: the balance cannot be below zero with no ledger entry that explains it: '-5.00'"],
    ),
    "the name of the others": (
        "outside: {contact: {}}",
        ["w.yaml:2:3: 'outside' is every other registrar already"],
    ),
}


@pytest.mark.parametrize("case", ACCOUNTS)
def test_a_mistake_in_an_account_is_told_in_its_place(case: str) -> None:
    """One mistake in an account is told, alone, with line, column, value and remedy."""
    text, messages = ACCOUNTS[case]
    assert told(f"accounts:\n  {text}\n") == messages


def test_a_balance_that_the_ledger_cannot_have_led_to_is_refused() -> None:
    """What the account had in the beginning follows from balance and ledger, and is not below zero."""
    entry = "ledger: {1: {at: -1d, amount: 50.00, purpose: adjustment}}\n"
    text = "accounts: {main: {contact: {}, balance: 20.00}}\n" + entry
    assert told(text) == [
        "w.yaml:1:41: the balance 20.00 and the ledger make it -30.00 in the beginning, below zero"
    ]


def test_a_contact_of_another_account_is_refused() -> None:
    """Whatever refers to a contact is of the contact's account."""
    text = ZONE + (
        "accounts: {main: {contact: {}}, more: {contact: {}}}\n"
        "domains: {a.com: {account: more, contacts: {admin: A1001}}}\n"
    )
    assert told(text) == ["w.yaml:3:52: the contact 'A1001' is another account's"]


def test_a_customer_of_another_account_is_refused() -> None:
    """Whatever refers to a customer is of the customer's account."""
    text = ZONE + (
        "accounts: {main: {contact: {}}, more: {contact: {}}}\ncustomers: {7: {mail: a@example.com}}\n"
        "domains: {a.com: {account: more, customer: 7}}\n"
    )
    assert told(text) == ["w.yaml:4:44: the customer 7 is another account's"]


def test_hosts_are_refused_in_a_zone_that_keeps_none() -> None:
    """A zone with ``hosts: false`` has names without hosts only."""
    zone = "zones: {ua: {hosts: false, prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}\n"
    text = zone + "accounts: {main: {contact: {}}}\ndomains: {a.ua: {hosts: {ns1: [192.0.2.1]}}}\n"
    assert told(text) == ["w.yaml:3:18: the zone ua keeps no hosts"]


def test_a_zone_is_not_a_name() -> None:
    """A name that is a zone itself cannot be held in the zone above."""
    prices = "{prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}"
    text = f"zones: {{ua: {prices}, com.ua: {prices}}}\ntaken: [com.ua]\n"
    assert told(text) == ["w.yaml:2:9: 'com.ua' is a zone, and cannot be held as a name"]


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    """Mistakes of shape and of sense, in every section, come in one go."""
    text = (
        "now: soon\n"
        "assume: {v3.ids: floats}\n"
        "zones:\n"
        "  com: {prices: {registration: x, renewal: 9.99, transfer: 8.99, restore: 80.00}}\n"
        "  net: {prices: {registration: 8.99, renewal: 9.99, transfer: 8.99, restore: 80.00}}\n"
        "accounts:\n"
        "  main: {contact: {country: NO}}\n"
        "  more: {contact: {}, nameservers: [ns1]}\n"
        "domains:\n"
        "  a.com: {account: main}\n"
        "  b.net: {account: moer}\n"
        "  c.orgg: {account: more}\n"
        "  d.net: {account: more, stage: lost, expires: -3q}\n"
        "taken: [b.net]\n"
    )
    assert [line.removeprefix("w.yaml:").split(" ")[0] for line in told(text)] == [
        "1:6:",
        "2:18:",
        "4:32:",
        "7:29:",
        "8:37:",
        "11:20:",
        "12:3:",
        "13:33:",
        "13:48:",
        "14:9:",
    ]


def test_what_refers_to_an_entry_with_mistakes_is_not_blamed() -> None:
    """One mistake in a zone, an account, a contact or a customer does not make a mistake of each use."""
    text = (
        "zones:\n  com: {prices: {}}\n"
        "  net: {prices: {registration: 8.99, renewal: 9.99, transfer: 8.99, restore: 80.00}}\n"
        "accounts:\n  main: {}\n  more: {contact: {}}\n"
        "contacts: {C1: {account: more, zip: 1}}\ncustomers: {3: {account: more, zip: 1}}\n"
        "domains:\n  a.com: {account: more}\n  b.net: {account: main}\n"
        "  c.net: {account: more, customer: 3, contacts: {admin: C1}}\n"
        "transfers: {b.net: {to: more}}\n"
    )
    assert {line.split(":")[1] for line in told(text)} == {"2", "5", "7", "8"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "w.yaml:1:1: the file is empty"),
        ("# nothing but this\n", "w.yaml:1:1: the file is empty"),
        ("---\n", "w.yaml:2:1: the file is empty"),
        ("- com\n", "w.yaml:1:1: a fixture is a mapping, with keys such as zones and accounts, not a list"),
        ("com\n", "w.yaml:1:1: a fixture is a mapping, with keys such as zones and accounts, not 'com'"),
        (
            "zones:\n\tcom: {}\n",
            "w.yaml:2:1: this is not YAML: a tab cannot stand here; YAML is indented with spaces",
        ),
        (
            "seed: a: b\n",
            "w.yaml:1:8: this is not YAML: a colon cannot stand here; put a text that has one in quotes",
        ),
        (
            "seed: @home\n",
            "w.yaml:1:7: this is not YAML: a plain text cannot begin with this character; put it in quotes",
        ),
        ("zones: {com: [}\n", None),
        ("seed: 'open\n", None),
        ("seed: \x07\n", "w.yaml:1:7: the character U+0007 is not allowed in YAML"),
        ("seed: \ud800\n", "w.yaml:1:7: the character U+D800 is not allowed in YAML"),
        ("? [a]\n: b\n", "w.yaml:1:3: a key is a text, not a list"),
        ("seed: " + "[" * 30 + "]" * 30, "w.yaml:1:31: nested more than 24 levels deep"),
        ("[" * 500_000, "w.yaml:1:26: nested more than 24 levels deep"),
    ],
)
def test_what_is_not_a_fixture_at_all_is_told_so(text: str, message: str | None) -> None:
    """Broken YAML, nothing, and other things than a mapping are told like any other mistake."""
    assert told(text) == [message] if message else len(told(text)) == 1


def test_a_few_lines_cannot_stand_for_billions() -> None:
    """Aliases of aliases of aliases are refused before they are followed."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert told("\n".join(lines)) == ["w.yaml:6:45: aliases repeat more than 1000000 values"]


def test_a_problem_knows_its_file_line_column_and_message() -> None:
    """The error has the problems as records too, for who wants to show them otherwise."""
    with pytest.raises(FixtureError) as caught:
        loads("frozen: 1\n", name="w.yaml")
    assert caught.value.problems == (Problem("w.yaml", 1, 9, "true or false is wanted here, not '1'"),)
