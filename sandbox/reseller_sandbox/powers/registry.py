"""The registry: names, hosts and transfers, to look at and to add."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from heapq import nsmallest
from typing import Annotated, Any, Unpack

from reseller_sandbox.core.clock import LATEST
from reseller_sandbox.core.model import Flag, Order, Stage, TransferStatus
from reseller_sandbox.core.names import to_unicode
from reseller_sandbox.core.outside import account_called
from reseller_sandbox.core.patterns import Glob
from reseller_sandbox.core.refusals import INVALID_ENTRY, UNKNOWN_ACCOUNT, UNKNOWN_RECORD
from reseller_sandbox.core.state import held_order, own_order
from reseller_sandbox.core.stepwise import in_order
from reseller_sandbox.core.values import TEXT, Text, choice
from reseller_sandbox.fixture.domains import DomainEntry
from reseller_sandbox.fixture.hosts import HostEntry
from reseller_sandbox.fixture.transfers import TransferEntry
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.keyed import Keyed
from reseller_sandbox.powers.pages import Limit, Start, add, as_kept, client_of, existing, keys_of, page
from reseller_sandbox.powers.power import act, look
from reseller_sandbox.powers.registry_records import (
    HostRecord,
    NameRecord,
    TransferRecord,
    host_record,
    name_record,
    transfer_record,
)
from reseller_sandbox.powers.result import Result

NameKey = Annotated[str, TEXT, "The name, in Unicode or ASCII."]
HostKey = Annotated[str, TEXT, "The host's whole name."]
StageWord = Annotated[str, choice(*(stage.value for stage in Stage))]
FlagWord = Annotated[str, choice(*(flag.value for flag in Flag))]
#: By what names are sorted, beside by account and order: what time does not move on is due last.
_SORTED: Mapping[str, Callable[[Order], Any]] = {
    "name": lambda order: (to_unicode(order.name), order.id),
    "expires": lambda order: (order.expires, order.id),
    "due": lambda order: (order.due or LATEST, order.id),
}
SortWord = Annotated[str, choice("order", *_SORTED)]
StatusWord = Annotated[str, choice(*(status.value for status in TransferStatus))]


class NamesFound(Result, frozen=True, kw_only=True):
    """A page of names; ``next`` is where the following page starts, if there is one."""

    names: tuple[NameRecord, ...]
    next: int | None


class HostsFound(Result, frozen=True, kw_only=True):
    """A page of hosts; ``next`` is where the following page starts, if there is one."""

    hosts: tuple[HostRecord, ...]
    next: int | None


class TransfersFound(Result, frozen=True, kw_only=True):
    """A page of transfers; ``next`` is where the following page starts, if there is one."""

    transfers: tuple[TransferRecord, ...]
    next: int | None


class Names(Keyed[NameRecord]):
    """The names of the registry, and who holds them at which stage of their lives."""

    @look(UNKNOWN_ACCOUNT, long=True)
    def list(
        self,
        *,
        account: Text | None = None,
        zone: Text | None = None,
        stage: StageWord | None = None,
        flag: FlagWord | None = None,
        like: Text | None = None,
        sort: SortWord = "order",
        limit: Limit = 100,
        start: Start = 0,
    ) -> NamesFound:
        """Return a page of the names: by account and order, or as ``sort`` says.

        Args:
            account: The account that holds them.
            zone: The zone that they are in.
            stage: The stage that they are at.
            flag: A flag that they have.
            like: A pattern of their names, with ``*`` and ``?``.
            sort: By what they are sorted; ``due`` is when time moves them on.
        """
        moment = here(self).world.present()
        state = moment.state
        owner = client_of(state, account)
        pattern = Glob(like.lower()) if like is not None else None

        def wanted(order: Order) -> bool:
            return (
                (zone is None or zone in (order.zone, to_unicode(order.zone)))
                and (stage is None or order.stage == stage)
                and (flag is None or flag in order.flags)
                and (pattern is None or any(map(pattern.matches, (order.name, to_unicode(order.name)))))
            )

        orders = (state.orders[number] for _, number in keys_of(state.orders_of_account, owner))
        now = moment.clock.now()
        found: Iterable[Order] = filter(wanted, orders)
        if sort != "order":  # as many as are shown, out of all
            found = nsmallest(start + limit + 1, found, key=_SORTED[sort])
        rows, following = page(found, limit, start)
        return NamesFound(names=tuple(name_record(state, order, now) for order in rows), next=following)

    @look(UNKNOWN_RECORD, UNKNOWN_ACCOUNT)
    def get(self, name: NameKey, /, *, account: Text | None = None) -> NameRecord:
        """Return one name as its holder has it, or as ``account`` has it, which may wait for a transfer.

        Args:
            account: Whose order to return; without it, the holder's.
        """
        moment = here(self).world.present()
        state, spelt = moment.state, as_kept(name)
        if account is not None:
            order = own_order(state, account_called(state, account).client_id, spelt)
        else:
            order = held_order(state, spelt)
        return name_record(state, existing(order, "name", name), moment.clock.now())

    @act(INVALID_ENTRY)
    def add(self, name: NameKey, /, **entry: Unpack[DomainEntry]) -> NameRecord:
        """Put a name into the registry, as a fixture would: nothing is ordered, and no money moves."""
        add(self, "domains", name, entry)
        return self.get(name)


class Hosts(Keyed[HostRecord]):
    """The name servers below names of the registry, with their glue addresses."""

    @look(long=True)
    def list(self, *, domain: Text | None = None, limit: Limit = 100, start: Start = 0) -> HostsFound:
        """Return a page of the hosts, by the names that they lie below.

        Args:
            domain: The name that they lie below.
        """
        state = here(self).world.present().state
        keys = state.hosts_of_domain.beginning((as_kept(domain),) if domain is not None else ())
        rows, following = page((state.hosts[name] for _, name in keys), limit, start)
        return HostsFound(hosts=tuple(map(host_record, rows)), next=following)

    @look(UNKNOWN_RECORD)
    def get(self, name: HostKey, /) -> HostRecord:
        """Return one host."""
        state = here(self).world.present().state
        return host_record(existing(state.hosts.get(as_kept(name)), "host", name))

    @act(INVALID_ENTRY)
    def add(self, name: HostKey, /, **entry: Unpack[HostEntry]) -> HostRecord:
        """Put a host below a name into the registry, as a fixture would."""
        add(self, "hosts", name, entry)
        return self.get(name)


class Transfers(Keyed[TransferRecord]):
    """The transfers of names between registrars: the latest one of each name."""

    @look(long=True)
    def list(
        self, *, status: StatusWord | None = None, limit: Limit = 100, start: Start = 0
    ) -> TransfersFound:
        """Return a page of the transfers, by name.

        Args:
            status: How they stand.
        """
        state = here(self).world.present().state
        found = (transfer for _, transfer in in_order(state.transfers))
        rows, following = page((one for one in found if status in (None, one.status)), limit, start)
        shown = tuple(transfer_record(state, one) for one in rows)
        return TransfersFound(transfers=shown, next=following)

    @look(UNKNOWN_RECORD)
    def get(self, domain: Text, /) -> TransferRecord:
        """Return the latest transfer of a name.

        Args:
            domain: The name.
        """
        state = here(self).world.present().state
        return transfer_record(state, existing(state.transfers.get(as_kept(domain)), "transfer of", domain))

    @act(INVALID_ENTRY)
    def add(self, domain: Text, /, **entry: Unpack[TransferEntry]) -> TransferRecord:
        """Put a transfer into the registry, as a fixture would: nothing is ordered, and no money moves.

        Args:
            domain: The name, which somebody holds.
        """
        add(self, "transfers", domain, entry)
        return self.get(domain)
